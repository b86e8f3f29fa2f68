/**
 * What tables and queries are made of. Required, and here alone: for each of the 110 files that an
 * import of drizzle-orm loads, Node reads the 180 KB of its package.json again, which was half of
 * the time that the control plane took to start; a `.cjs` file needs nothing of it.
 */
import { createRequire } from 'node:module'
import type * as Core from 'drizzle-orm'
import type * as BetterSqlite3 from 'drizzle-orm/better-sqlite3'
import type * as SqliteCore from 'drizzle-orm/sqlite-core'
import type * as SqliteProxy from 'drizzle-orm/sqlite-proxy'

const require = createRequire(import.meta.url)

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
