/** Words behind a program's name, told apart by a table of its options; what each means is its own to say. */
import { parseArgs } from 'node:util'
import { nearest } from '../../../shared/nearest.ts'

export interface OptionHelp {
  /** What stands behind it, if anything does. */
  readonly value?: string
  readonly short?: string
  readonly text: string
}

export interface Words {
  readonly options: readonly {
    readonly name: string
    /** As it was written. */
    readonly raw: string
    readonly value: string | undefined
  }[]
  readonly names: readonly string[]
}

/** Before it is known which command it is. */
export function splitArguments(
  args: readonly string[],
  options: Readonly<Record<string, OptionHelp>>,
): Words {
  const { tokens } = parseArgs({
    args: [...args],
    strict: false,
    tokens: true,
    allowPositionals: true,
    options: Object.fromEntries(
      Object.entries(options).map(([name, { value, short }]) => [
        name,
        { type: value === undefined ? 'boolean' : 'string', ...(short && { short }) },
      ]),
    ),
  })
  return {
    options: tokens.flatMap((token) =>
      token.kind === 'option' ? [{ name: token.name, raw: token.rawName, value: token.value }] : [],
    ),
    names: tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : [])),
  }
}

/** The end of a sentence: with the name that was perhaps meant, if there is one. */
export function guess(word: string, candidates: readonly string[]): string {
  const near = word !== '' && word.length <= 40 ? nearest(word, candidates) : undefined
  return near === undefined ? '.' : `; did you mean ${near}?`
}
