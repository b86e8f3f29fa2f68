/** A full tenant in the database, written in one go and past the store. */
import Database from 'better-sqlite3'
import { MINUTE_MS } from '../../../shared/clock.ts'
import {
  getTableColumns,
  getTableConfig,
  getTableName,
  type SQLiteColumn,
} from '../../../control-plane/store/drizzle.ts'
import { schema, type Schema } from '../../../control-plane/store/schema.ts'
import type { Prepared } from '../api/endpoint-calls.ts'
import { FILLINGS, TENANT, type World } from './filled-tenant.ts'

export function fill(file: string, prepared: Prepared, nowMs: number): void {
  const world: World = { nowMs, ada: prepared.userId, ...prepared }
  const database = new Database(file)
  database.pragma('synchronous = OFF')
  database.pragma('foreign_keys = OFF')
  database.exec('BEGIN')
  for (const [key, filling] of Object.entries(FILLINGS)) {
    if (typeof filling === 'string') continue
    const table = schema[key as keyof Schema]
    const columns = Object.entries(getTableColumns(table)) as [string, SQLiteColumn][]
    const names = columns.map(([, { name }]) => name)
    const keys = new Set([
      ...getTableConfig(table).primaryKeys.flatMap((one) => one.columns),
      ...getTableConfig(table).indexes.flatMap((one) => one.config.columns as SQLiteColumn[]),
    ])
    const insert = database.prepare(
      `INSERT INTO ${getTableName(table)} (${names.join()}) VALUES (${names.map(() => '?').join()})`,
    )
    for (let at = 0; at < filling.rows; at++) {
      const given = filling.row?.(at, world) ?? {}
      insert.run(
        columns.map(([name, column]) => {
          const isNeeded = column.notNull || keys.has(column)
          const value =
            name in given ? given[name] : isNeeded ? madeUp(name, column, at, world) : null
          return value === null ? null : (column.mapToDriverValue(value) as never)
        }),
      )
    }
  }
  database.exec('COMMIT')
  database.close()
}

function madeUp(name: string, column: SQLiteColumn, at: number, { nowMs }: World): unknown {
  if (name === 'tenantId') return TENANT
  const kind = column.getSQLType()
  if (kind === 'bigint') return false
  if (kind === 'integer') return name.endsWith('At') ? nowMs - MINUTE_MS : 0
  return `${name}-${at}`
}
