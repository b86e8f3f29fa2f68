/** What stands in TOML and JSON of strangers: a table, a list or a text, or nothing. */
import { parse } from 'smol-toml'
import { parse as parseYaml } from 'yaml'

export type Table = Readonly<Record<string, unknown>>

/** A text that is not TOML: a table of nothing, and what is wrong with it. */
export function readToml(text: string): { readonly table: Table; readonly problem: string | null } {
  try {
    return { table: parse(text), problem: null }
  } catch (error) {
    const [first = ''] = (error as Error).message.split('\n')
    const { line } = error as { line?: number }
    return { table: {}, problem: line === undefined ? first : `${first} (line ${line})` }
  }
}

/** undefined where it is none. */
export function parsedJson(text: string | null): unknown {
  try {
    return JSON.parse(text ?? '') as unknown
  } catch {
    return undefined
  }
}

/** With comments and commas behind the last item, as tsconfig.json has them. */
export function parsedJsonc(text: string | null): unknown {
  const STRING_OR_COMMENT = /"(?:\\.|[^"\\\n])*"|\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$)/g
  const bare = text?.replace(STRING_OR_COMMENT, (part) => (part.startsWith('"') ? part : ''))
  return parsedJson(
    bare?.replace(/"(?:\\.|[^"\\\n])*"|,(?=\s*[}\]])/g, (part) => (part === ',' ? '' : part)) ??
      null,
  )
}

/** One document; undefined where it is none, or a bomb of aliases. */
export function parsedYaml(text: string | null): unknown {
  if (text === null || text.length > YAML_CHARACTERS_MAX) return undefined
  try {
    return parseYaml(text, { maxAliasCount: 10, logLevel: 'silent' }) as unknown
  } catch {
    return undefined
  }
}

const YAML_CHARACTERS_MAX = 64 * 1024

/** Its own keys alone count: `__proto__` is a key like any other. */
export function tableIn(value: unknown, ...names: readonly string[]): Table {
  let at = value
  for (const name of names) at = isTable(at) && Object.hasOwn(at, name) ? at[name] : undefined
  return isTable(at) ? at : {}
}

/** null: none is there, or an empty one. */
export function textIn(table: Table, name: string): string | null {
  const value = Object.hasOwn(table, name) ? table[name] : undefined
  return typeof value === 'string' && value !== '' ? value : null
}

export function textsIn(table: Table, name: string): string[] {
  return textsOf(Object.hasOwn(table, name) ? table[name] : undefined)
}

export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

/** Its texts by their names, and nothing else of it. */
export function namedTexts(value: unknown): [string, string][] {
  return Object.entries(tableIn(value)).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  )
}

export function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
