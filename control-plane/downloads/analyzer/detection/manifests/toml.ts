/** Tables of TOML, read so that whatever stands in them is a table, a list or a text, or nothing. */
import { parse } from 'smol-toml'

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

export function tableIn(table: Table, ...names: readonly string[]): Table {
  let at: unknown = table
  for (const name of names) at = isTable(at) && Object.hasOwn(at, name) ? at[name] : undefined
  return isTable(at) ? at : {}
}

export function textIn(table: Table, name: string): string | null {
  const value = Object.hasOwn(table, name) ? table[name] : undefined
  return typeof value === 'string' ? value : null
}

export function textsIn(table: Table, name: string): string[] {
  const value = Object.hasOwn(table, name) ? table[name] : undefined
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

export function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
