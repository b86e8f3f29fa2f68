/**
 * What tables and queries are made of. Required, and here alone: for each of the 110 files that an
 * import of drizzle-orm loads, Node reads the 180 KB of its package.json again, which was half of
 * the time that the control plane took to start; a `.cjs` file needs nothing of it.
 */
import { createRequire } from 'node:module'
import type * as Core from 'drizzle-orm'
import type * as Entity from 'drizzle-orm/entity'
import type * as BetterSqlite3 from 'drizzle-orm/better-sqlite3'
import type * as SqliteCore from 'drizzle-orm/sqlite-core'
import type * as SqliteProxy from 'drizzle-orm/sqlite-proxy'

const require = createRequire(import.meta.url)
recogniseQuickly()

export const {
  and,
  asc,
  count,
  desc,
  eq,
  exists,
  getTableColumns,
  getTableName,
  gt,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  max,
  min,
  ne,
  notExists,
  notInArray,
  notLike,
  or,
  sql,
  sum,
} = require('drizzle-orm') as typeof Core

export type { ExtractTablesWithRelations, Placeholder, SQL } from 'drizzle-orm'
export type {
  SQLiteColumn,
  SQLiteInsertValue,
  SQLiteTable,
  SQLiteUpdateSetSource,
} from 'drizzle-orm/sqlite-core'

export const { drizzle } = require('drizzle-orm/better-sqlite3') as typeof BetterSqlite3

/** Only where there is another database than SQLite. */
export const sqliteProxy = () => require('drizzle-orm/sqlite-proxy') as typeof SqliteProxy

export const {
  SQLiteAsyncDialect,
  customType,
  getTableConfig,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} = require('drizzle-orm/sqlite-core') as typeof SqliteCore

/**
 * Each piece of a statement is asked by drizzle's `is` whether it is one of ten kinds, and `is`
 * walks through all classes of the piece each time, which was a tenth of what the control plane did.
 * Of which kinds a class is does not change: it is found out once. Drizzle's own modules take `is`
 * from the place where this one is put, so it has to be there before them.
 */
function recogniseQuickly(): void {
  const place = require.resolve('drizzle-orm/entity')
  const entity = require(place) as typeof Entity
  const loaded = require.cache[place]
  if (loaded !== undefined) loaded.exports = { ...entity, is: quickIs(entity) }
}

type Kind = abstract new (...given: never) => unknown

/** Answers as drizzle's own does. */
function quickIs({ entityKind, is }: Pick<typeof Entity, 'entityKind' | 'is'>) {
  const known = new WeakMap<object, ReadonlySet<unknown>>()
  return (value: unknown, type: Kind): boolean => {
    if (value === null || typeof value !== 'object') return false
    const of = (Object.getPrototypeOf(value) as object | null)?.constructor
    // of what is no entity it says so itself
    if (of === undefined || !Object.hasOwn(type, entityKind)) return is(value, type as never)
    let kinds = known.get(of)
    if (kinds === undefined) known.set(of, (kinds = kindsIn(of, entityKind)))
    return kinds.has(Reflect.get(type, entityKind))
  }
}

function kindsIn(of: object, entityKind: symbol): ReadonlySet<unknown> {
  const kinds = new Set<unknown>()
  for (let one: object | null = of; one !== null; one = Object.getPrototypeOf(one) as object | null)
    if (entityKind in one) kinds.add(Reflect.get(one, entityKind))
  return kinds
}
