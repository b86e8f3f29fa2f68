/**
 * The operator's SELECT becomes the inner part of ours. So it can only be something that gives
 * rows, no more than two of them are ever made, and nothing but the named columns travels.
 */
import { chosenColumns, type Columns, type DirectoryKind } from './settings.ts'

/** A match more than the one that is wanted tells that the login does not name one person. */
const ROWS_WANTED = 2

const COMMENT = /--[^\n]*|\/\*[\s\S]*?\*\//g

/** What is wrong with it before any database has seen it; completes «"query" must be …». */
export const QUERY_WISH =
  'one SELECT that takes the login as its only parameter: $1 in Postgres, ? in MySQL'

export function isPlausibleQuery(kind: DirectoryKind, query: string): boolean {
  const bare = query.replaceAll(COMMENT, ' ').trim().replace(/;$/, '')
  if (!/^(?:select|with)\b/i.test(bare) || bare.includes(';')) return false
  return kind === 'postgres' ? bare.includes('$1') : bare.includes('?')
}

/** No row, but the names of all columns: to say which there are when one is missing. */
export function columnsQuery(query: string): string {
  return `SELECT * FROM (${inner(query)}\n) AS found LIMIT 0`
}

export function lookUpQuery(kind: DirectoryKind, query: string, columns: Columns): string {
  const names = chosenColumns(columns).map(({ column }) => quote(kind, column))
  return `SELECT ${names.join(', ')} FROM (${inner(query)}\n) AS found LIMIT ${ROWS_WANTED}`
}

/** Ends on a line of its own, so that a comment at its end does not swallow the bracket. */
const inner = (query: string) => query.trim().replace(/;$/, '')

function quote(kind: DirectoryKind, name: string): string {
  const mark = kind === 'postgres' ? '"' : '`'
  return `${mark}${name.replaceAll(mark, mark + mark)}${mark}`
}
