import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import { getTableConfig, getTableName } from '../../../control-plane/store/drizzle.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { openSqlite } from '../../../control-plane/store/engines/sqlite.ts'
import { temporaryFolder } from '../../support/control-plane.ts'
import { sqliteIndexes } from '../../support/sqlite-indexes.ts'

void t.test('what migrations make is what the schema says, column by column', async (t) => {
  const file = join(temporaryFolder(t), 'service.db')
  await openSqlite(file).close()
  const database = new Database(file, { readonly: true })
  t.teardown(() => database.close())

  for (const table of Object.values(schema)) {
    const name = getTableName(table)
    const made = database.pragma(`table_info(${name})`) as {
      name: string
      notnull: number
      pk: number
    }[]
    const { primaryKeys, indexes, columns } = getTableConfig(table)
    const keyColumns = primaryKeys.flatMap((key) => key.columns.map((column) => column.name))
    const wanted = columns.map((column) => {
      const isKey = column.primary || keyColumns.includes(column.name)
      return { name: column.name, isKey, isNeeded: column.notNull || isKey }
    })
    const found = made.map((column) => ({
      name: column.name,
      isKey: column.pk > 0,
      isNeeded: column.notnull === 1 || column.pk > 0,
    }))
    t.strictSame(found, wanted, name)

    const unique = sqliteIndexes(database, name).filter(({ isUnique }) => isUnique)
    const declared = indexes.map(({ config: { name, columns } }) => ({
      name,
      isUnique: true,
      columns: columns.map((column) => ('name' in column ? column.name : '')),
    }))
    const byName = (one: { name: string }, other: { name: string }) =>
      one.name < other.name ? -1 : 1
    t.strictSame(unique.sort(byName), declared.sort(byName), `${name}: what is there once`)
  }
})

void t.test('a database of a newer version is left alone', async (t) => {
  const file = join(temporaryFolder(t), 'service.db')
  await openSqlite(file).close()
  const database = new Database(file)
  database.prepare('INSERT INTO migrations VALUES (?, ?)').run('9999-later', 0)
  database.close()
  t.throws(() => openSqlite(file), { message: /newer version.*9999-later/ })
})
