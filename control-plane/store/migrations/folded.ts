/**
 * What an empty database is made of: tables and indexes as the last migration leaves them, without
 * the steps between. For each column that a step adds, SQLite reads its whole schema anew, which took
 * most of the time that a first start spent on its database. Where there are tables, steps are steps.
 */
import type { Migration } from './migrations.ts'

/** In the words of SQLite. */
export function folded(migrations: readonly Pick<Migration, 'statements'>[]): string[] {
  const tables = new Map<string, string>()
  const indexes = new Map<string, string>()
  /** Some tables begin with rows: written once everything is there. */
  const rows: string[] = []
  for (const text of migrations.flatMap(({ statements }) => statements)) {
    const { verb, name, rest } = read(text)
    if (verb === 'CREATE TABLE') tables.set(name, text)
    else if (verb === 'CREATE INDEX' || verb === 'CREATE UNIQUE INDEX') indexes.set(name, text)
    else if (verb === 'DROP INDEX') indexes.delete(name)
    else if (verb === 'INSERT INTO') rows.push(text)
    else if (verb === 'ALTER TABLE') tables.set(name, altered(tables.get(name) ?? '', rest))
    // UPDATE and DELETE: nothing is there that they could change
  }
  return [...tables.values(), ...indexes.values(), ...rows]
}

const STATEMENT =
  /^(CREATE TABLE|CREATE INDEX|CREATE UNIQUE INDEX|DROP INDEX|ALTER TABLE|INSERT INTO|UPDATE|DELETE FROM) (\w+)\s*([^]*)$/

function read(text: string) {
  const [, verb, name = '', rest = ''] = STATEMENT.exec(text) ?? []
  if (verb === undefined)
    throw new Error(`folded.ts does not know how to fold "${text.slice(0, 60)}": teach it to`)
  return { verb, name, rest }
}

const ADD = /^ADD COLUMN ([^]+)$/
const DROP = /^DROP COLUMN (\w+)$/

/** As SQLite writes it into its schema. */
function altered(table: string, change: string): string {
  const [, added] = ADD.exec(change) ?? []
  const [, dropped] = DROP.exec(change) ?? []
  const { head, parts, tail } = takenApart(table)
  if (added !== undefined) {
    const behind = parts.findIndex((part) => CONSTRAINT.test(part))
    const at = behind === -1 ? parts.length : behind
    return `${head}${[...parts.slice(0, at), ` ${added}`, ...parts.slice(at)].join()}${tail}`
  }
  const kept = parts.filter((part) => part.trimStart().split(' ')[0] !== dropped)
  if (dropped === undefined || kept.length !== parts.length - 1)
    throw new Error(`folded.ts does not know how to fold "${change}" into "${table}"`)
  return `${head}${kept.join()}${tail}`
}

/** Stands behind all columns. */
const CONSTRAINT = /^\s*(?:PRIMARY KEY|UNIQUE|CHECK|FOREIGN KEY|CONSTRAINT)\b/

/** `CREATE TABLE a (`, what stands between its commas, and `)`. */
function takenApart(table: string) {
  const [from, to] = [table.indexOf('(') + 1, table.lastIndexOf(')')]
  const parts: string[] = []
  let [depth, begin] = [0, from]
  for (let at = from; at < to; at++) {
    if (table[at] === '(') depth++
    else if (table[at] === ')') depth--
    else if (table[at] === ',' && depth === 0) {
      parts.push(table.slice(begin, at))
      begin = at + 1
    }
  }
  parts.push(table.slice(begin, to))
  return { head: table.slice(0, from), parts, tail: table.slice(to) }
}
