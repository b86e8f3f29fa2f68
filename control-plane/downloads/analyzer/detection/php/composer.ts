/** What composer.json asks for. */
import type { Project } from '../../project/project.ts'
import { byName, lineOf, type Dependencies } from '../manifests/dependencies.ts'
import { isTable, tableIn } from '../manifests/toml.ts'

export async function readComposer(
  project: Project,
  path: string,
): Promise<{ dependencies: Dependencies; problem: string | null }> {
  const text = (await project.read(path)) ?? '{}'
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (error) {
    return { dependencies: new Map(), problem: (error as Error).message }
  }
  const manifest = isTable(parsed) ? parsed : {}
  const ofKey = (key: string, isDev: boolean) =>
    Object.entries(tableIn(manifest, key)).map(([name, version]) => ({
      name,
      version: typeof version === 'string' ? version : null,
      isDev,
      at: { path, line: lineOf(text, name) },
    }))
  return {
    dependencies: byName([...ofKey('require', false), ...ofKey('require-dev', true)]),
    problem: null,
  }
}
