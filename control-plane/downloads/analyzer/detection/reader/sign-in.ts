/** What signs people in already: what the code does is sure, what a manifest only names is likely. */
import type { Clue } from '../assemble.ts'
import { needed } from '../manifests/dependencies.ts'
import type { ReadPart } from './part.ts'
import { firstSaid, type PlaceRule } from './rules.ts'

export interface SignInTable {
  /** By their name in the manifest, and what it is called here; its own name, if it is not said. */
  readonly packages?: readonly (readonly [RegExp, string] | string)[]
  /** Those that count although they are there for developers alone. */
  readonly developed?: readonly string[]
  /** What it is called, and what else its rule says. */
  readonly code?: readonly (readonly [RegExp, string, Partial<PlaceRule>?])[]
}

export function signInOf(
  part: Pick<ReadPart, 'folder' | 'sources' | 'dependencies'>,
  { packages = [], code = [], developed = [] }: SignInTable,
): Clue<string>[] {
  const called = code.flatMap(([code, value, rule]) => {
    const usual = { code, value, confidence: 'sure', detail: 'The code calls for it.' } as const
    return firstSaid(part, [{ ...usual, ...rule }]) ?? []
  })
  const named = packages.flatMap((one): Clue<string>[] => {
    const [name, value] = typeof one === 'string' ? [one, one] : one
    const found = developed.includes(value)
      ? part.dependencies.get(value)
      : typeof name === 'string'
        ? needed(part.dependencies, name)
        : [...part.dependencies.values()].find((other) => !other.isDev && name.test(other.name))
    return found
      ? [{ value, at: found.at, confidence: 'likely', detail: 'It is a dependency.' }]
      : []
  })
  return [...called, ...named]
}
