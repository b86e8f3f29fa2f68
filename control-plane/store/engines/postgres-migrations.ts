/**
 * The same migrations as SQLite has, in a transaction each: whoever is cut off goes on with the next.
 * Text is compared byte by byte there, and so it is here.
 */
import { migrations, type Migration } from '../migrations/migrations.ts'
import type { Connection, Connections } from './postgres-connections.ts'

const LOCK = 0x5e40
const BEGIN = [
  'BEGIN',
  'SET LOCAL lock_timeout = 30000',
  'SET LOCAL statement_timeout = 0',
  `SELECT pg_advisory_xact_lock(${LOCK}, 0)`,
].join('; ')

/** 13 has `pg_current_xact_id_if_assigned`. */
const VERSION_MIN = 130_000

export async function migratePostgres(connections: Connections): Promise<void> {
  const connection = await connections.take()
  try {
    await refuseUnfit(connection)
    await connection.run(
      `${BEGIN}; CREATE TABLE IF NOT EXISTS migrations
        (name TEXT COLLATE "C" PRIMARY KEY, applied_at BIGINT NOT NULL); COMMIT`,
    )
    const before = await appliedBefore(connection)
    for (const migration of migrations) {
      if (before.has(migration.name)) continue
      const text = textOf(migration)
      await connection.run(BEGIN)
      const is = 'SELECT 1 FROM migrations WHERE name = $1'
      const isApplied = (await connection.ask(is, [migration.name])).length > 0
      if (!isApplied) {
        if (text !== '') await connection.run(text)
        await connection.ask('INSERT INTO migrations VALUES ($1, $2)', [migration.name, Date.now()])
      }
      await connection.run('COMMIT')
    }
  } finally {
    await connection.run('ROLLBACK').catch(() => {})
    connection.release()
  }
}

/** What is not the database's to decide, or is too late to change once something is stored. */
async function refuseUnfit(connection: Connection) {
  const ask = "SELECT current_setting('server_version_num'), current_setting('server_encoding')"
  const [[version, encoding] = []] = await connection.ask(ask, [])
  if (Number(version) < VERSION_MIN)
    throw new Error(`it is older than PostgreSQL ${VERSION_MIN / 10_000}; upgrade it`)
  if (encoding !== 'UTF8')
    throw new Error(`its encoding is ${String(encoding)}; create one with --encoding=UTF8`)
}

async function appliedBefore(connection: Connection): Promise<ReadonlySet<string>> {
  const known = new Set<string>(migrations.map(({ name }) => name))
  const rows = await connection.ask('SELECT name FROM migrations ORDER BY name', [])
  const names = rows.map(([name]) => String(name))
  const newer = names.find((name) => !known.has(name))
  if (newer !== undefined)
    throw new Error(`the database was written by a newer version (it has migration ${newer})`)
  return new Set(names)
}

/** In the words of Postgres: text by its bytes, and whole numbers of eight bytes, as SQLite has them. */
function textOf({ statements, postgres = statements }: Migration): string {
  return postgres
    .map((text) => text.replace(/\bTEXT\b/g, 'TEXT COLLATE "C"').replace(/\bINTEGER\b/g, 'BIGINT'))
    .join(';\n')
}
