/**
 * The column kinds that our schema is written in, so that one definition serves both databases.
 * SQLite and Postgres both know TEXT and BIGINT; JSON and booleans are carried in those, which
 * lets one migration text run on either. Typed as SQLite's, which is the default.
 */
import {
  customType,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from './drizzle.ts'

const jsonText = customType<{ data: unknown; driverData: string }>({
  dataType: () => 'text',
  toDriver: (value) => JSON.stringify(value),
  fromDriver: (stored) => JSON.parse(stored) as unknown,
})

const flag = customType<{ data: boolean; driverData: number }>({
  dataType: () => 'bigint',
  toDriver: (value) => (value ? 1 : 0),
  fromDriver: (stored) => Number(stored) === 1,
})

export const sqliteColumns = {
  table: sqliteTable,
  text: (name: string) => text(name),
  whole: (name: string) => integer(name, { mode: 'number' }),
  json: (name: string) => jsonText(name),
  flag: (name: string) => flag(name),
  primaryKey,
  index,
  uniqueIndex,
} as const

export type Columns = typeof sqliteColumns
