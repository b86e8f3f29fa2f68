/**
 * The column kinds that our schema is written in. JSON and booleans are carried in TEXT and BIGINT,
 * which Postgres knows as well, so that one migration text could run on either. Indexes that only make
 * something faster are their migrations' alone; a unique one is a rule, and stands beside its columns.
 */
import { customType, integer, primaryKey, sqliteTable, text, uniqueIndex } from './drizzle.ts'

export const json = customType<{ data: unknown; driverData: string }>({
  dataType: () => 'text',
  toDriver: (value) => JSON.stringify(value),
  fromDriver: (stored) => JSON.parse(stored) as unknown,
})

export const flag = customType<{ data: boolean; driverData: number }>({
  dataType: () => 'bigint',
  toDriver: (value) => (value ? 1 : 0),
  fromDriver: (stored) => Number(stored) === 1,
})

export const whole = (name: string) => integer(name, { mode: 'number' })

export { primaryKey, sqliteTable as table, text, uniqueIndex }
