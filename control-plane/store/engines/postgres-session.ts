/**
 * Drizzle's queries, answered by Postgres. Their builder is the one for SQLite, whose words are
 * standard SQL as far as we use them; what is left are marks of parameters and kinds of values.
 */
import { randomUUID } from 'node:crypto'
import {
  SQLiteAsyncDialect,
  sqliteProxy,
  type ExtractTablesWithRelations,
  type SQL,
} from '../drizzle.ts'
import type { Queries } from '../engine.ts'
import type { Schema } from '../schema.ts'

/** Carries a statement out and answers its rows, each as a list. */
type Ask = (text: string, values: unknown[]) => Promise<unknown[][]>

class PostgresDialect extends SQLiteAsyncDialect {
  override escapeParam(at: number): string {
    return `$${at + 1}`
  }

  /** Only SQLite takes columns with their table there. */
  override sqlToQuery(statement: SQL) {
    const query = super.sqlToQuery(statement)
    const text = query.sql.replace(/ on conflict \(([^)]+)\)/, (clause) =>
      clause.replace(/"[^".]+"\./g, ''),
    )
    return { ...query, sql: text }
  }
}

const dialect = new PostgresDialect()

type RemoteSession = InstanceType<ReturnType<typeof sqliteProxy>['SQLiteRemoteSession']>

export function queriesBy(ask: Ask): Queries {
  const { SQLiteRemoteSession, SqliteRemoteDatabase } = sqliteProxy()
  /** Without drizzle's words around an error: what is refused stays a refusal, and repeats no value. */
  class PostgresSession extends SQLiteRemoteSession<Schema, ExtractTablesWithRelations<Schema>> {
    override prepareQuery(...given: Parameters<RemoteSession['prepareQuery']>) {
      const prepared = super.prepareQuery(...given)
      const queryWithCache = <T>(_text: string, _values: unknown[], query: () => T) => query()
      return Object.assign(prepared, { queryWithCache })
    }
  }
  const session = new PostgresSession(
    async (text, values: unknown[], method) => {
      const rows = await ask(text, checked(text, values))
      return { rows: method === 'get' ? (rows[0] as unknown[]) : rows }
    },
    dialect,
    undefined,
  )
  return new SqliteRemoteDatabase('async', dialect, session, undefined)
}

const WHOLE_MAX = '9223372036854775807'

/** Like nothing that is stored. */
const NO_TEXT = `\uffff${randomUUID()}`

/**
 * What SQLite takes and Postgres does not: no number is larger, and no text has a NUL. What is looked
 * for with one is not there; whoever wants to store one has been refused before.
 */
function checked(text: string, values: unknown[]): unknown[] {
  return values.map((value) => {
    if (value === Infinity) return WHOLE_MAX
    if (value === -Infinity) return `-${WHOLE_MAX}`
    if (typeof value !== 'string' || !value.includes('\0')) return value
    if (/^(?:insert|update)/.test(text)) throw new Error('a text with a NUL was to be stored')
    return value.replaceAll('\0', NO_TEXT)
  })
}

/** https://github.com/postgres/postgres/blob/master/src/include/catalog/pg_type.dat */
const BOOL = 16
const NUMBERS = new Set([20, 21, 23, 701, 1700])

/** As SQLite answers them: numbers are numbers, true is 1, all else is text. */
export const TYPES = {
  getTypeParser: (type: number) =>
    type === BOOL ? (text: string) => (text === 't' ? 1 : 0) : NUMBERS.has(type) ? number : String,
}

export class UnsafeNumber extends Error {}

/** A number that JavaScript would change quietly is worse than none. */
function number(text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new UnsafeNumber(`the database holds a number that is too large: ${text}`)
  return value
}
