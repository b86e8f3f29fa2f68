/** The indexes that migrations have made of one table, in SQLite: keys and unique columns are not among them. */
import type Database from 'better-sqlite3'

export function sqliteIndexes(database: Database.Database, table: string) {
  const made = database.pragma(`index_list(${table})`) as {
    name: string
    unique: number
    origin: string
  }[]
  return made
    .filter(({ origin }) => origin === 'c')
    .map(({ name, unique }) => ({
      name,
      isUnique: unique === 1,
      columns: (database.pragma(`index_info(${name})`) as { name: string }[]).map(
        (column) => column.name,
      ),
    }))
}
