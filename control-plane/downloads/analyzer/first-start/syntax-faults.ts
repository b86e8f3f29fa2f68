/** Whether Node itself can read a file as it stands now, where it could read it before. */
import { plainText } from '../../command-line/words.ts'
import type { FileEdit } from '../plan.ts'
import type { PackageType } from '../syntax/parse.ts'
import { runNode, type Environment } from './node-child.ts'

/** null: nothing is wrong, or it is no file that Node reads by itself. */
export async function syntaxFault(
  root: string,
  { path, before, after }: Pick<FileEdit, 'path' | 'before' | 'after'>,
  packageType: PackageType,
  environment: Environment,
): Promise<string | null> {
  if (!/\.[cm]?js$/.test(path)) return null
  const type = inputType(path, packageType)
  const check = (input: string) =>
    runNode({ args: ['--check', ...type, '-'], folder: root, environment, input })
  const ended = await check(after)
  if (ended.code === 0 || ended.code === null) return null
  // JSX, Flow, or modules that a compiler turns into others
  if (before !== null && (await check(before)).code !== 0) return null
  const [, said = 'no reason given'] = /^(\w*Error: [^\n]+)/m.exec(ended.err) ?? []
  return `Node.js cannot parse it: ${plainText(said)}`
}

function inputType(path: string, packageType: PackageType): string[] {
  if (path.endsWith('.mjs')) return ['--input-type=module']
  if (path.endsWith('.cjs')) return ['--input-type=commonjs']
  return packageType === undefined ? [] : [`--input-type=${packageType}`]
}
