/** What composer.json asks for. */
import { byName, lineOf, type Dependencies } from './dependencies.ts'
import { isTable, tableIn } from './toml.ts'

export function composerDependencies(
  text: string,
  path: string,
): { dependencies: Dependencies; problem: string | null } {
  let manifest: unknown
  try {
    manifest = JSON.parse(text)
  } catch (error) {
    return { dependencies: new Map(), problem: (error as Error).message }
  }
  const ofKey = (key: string, isDev: boolean) =>
    Object.entries(tableIn(isTable(manifest) ? manifest : {}, key)).map(([name, version]) => ({
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
