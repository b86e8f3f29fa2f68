/**
 * SQLite behind two connections: one that writes, one change at a time, and one that reads what
 * is committed. Drizzle's own `transaction()` cannot await on this driver, so BEGIN and COMMIT are
 * ours, and a queue keeps one change from reading into another.
 */
import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import type { BaseSQLiteDatabase } from 'drizzle-orm/sqlite-core'
import { LRUCache } from 'lru-cache'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { drizzle } from './drizzle.ts'
import { migrations } from './migrations/migrations.ts'
import { createWriteQueue } from './precedence.ts'
import { schema, type Schema } from './schema.ts'

/**
 * Queries are awaited (`await db.select()…`), never run with `.get()` or `.all()`: that is the
 * part of drizzle which SQLite and Postgres share.
 */
export type Queries = BaseSQLiteDatabase<'async', unknown, Schema>

export interface Engine {
  readonly reader: Queries
  /** Runs `work` alone, on committed state; all of it is kept or none. */
  transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T>
  close(): Promise<void>
}

const BUSY_RETRY_MS = 20
const STATEMENTS_KEPT_MAX = 500
/** So long commits follow one another without a pause. */
const TURN_MS = 10

export function openSqlite(file: string, busyMsMax: number = LIMITS.storeBusyMsMax): Engine {
  const writer = connect(file)
  migrate(writer)
  // SQLite would wait on this thread, and everything with it: `begin` waits instead.
  writer.pragma('busy_timeout = 0')
  const readerConnection = connect(file)
  readerConnection.pragma('query_only = ON')
  const writerQueries = drizzle(writer, { schema }) as unknown as Queries
  const queue = createWriteQueue(pause)
  let isClosed = false
  let turnStartedMs = 0

  async function alone<T>(work: (queries: Queries) => Promise<T>, busyUntilMs: number): Promise<T> {
    await begin(busyUntilMs)
    try {
      const result = await work(writerQueries)
      writer.exec('COMMIT')
      return result
    } catch (error) {
      if (writer.inTransaction) writer.exec('ROLLBACK')
      throw error
    }
  }

  /** Another program may have the lock: a backup, somebody's shell. */
  async function begin(deadlineMs: number) {
    for (;;)
      try {
        writer.exec('BEGIN IMMEDIATE')
        return
      } catch (error) {
        if (!(error as { code?: string }).code?.startsWith('SQLITE_BUSY')) throw error
        if (performance.now() > deadlineMs) throw new Refusal('unavailable', { retry_after: 5 })
        await sleep(BUSY_RETRY_MS)
      }
  }

  /**
   * A long queue of commits, each of which waits for the disk, would hold up everything that only
   * reads; so all others have a turn whenever the queue has had its own.
   */
  async function pause() {
    if (performance.now() - turnStartedMs < TURN_MS) return
    await breathe()
    turnStartedMs = performance.now()
  }

  return {
    reader: drizzle(readerConnection, { schema }) as unknown as Queries,
    transaction(work) {
      // what was asked for before is carried out; whoever goes on and on ends here
      if (isClosed) return Promise.reject(new Error('the store is closed'))
      const busyUntilMs = performance.now() + busyMsMax // whoever asks does not wait for others' waits
      return queue.enter(() => alone(work, busyUntilMs))
    },
    async close() {
      isClosed = true
      await queue.settled()
      readerConnection.close()
      writer.close()
    },
  }
}

function connect(file: string) {
  const connection = new Database(file, { timeout: LIMITS.storeBusyMsMax })
  connection.pragma('journal_mode = WAL')
  connection.pragma('synchronous = FULL') // only FULL keeps an acknowledged commit through power loss
  connection.pragma('foreign_keys = ON')
  keepStatements(connection)
  return connection
}

/** Compiling costs more than running: drizzle asks for the same few hundred texts again and again. */
function keepStatements(connection: Database.Database) {
  const compiled = new LRUCache<string, Database.Statement>({ max: STATEMENTS_KEPT_MAX })
  const compile = connection.prepare.bind(connection)
  const prepare = (source: string): Database.Statement => {
    const known = compiled.get(source)
    if (known === undefined) {
      const statement = compile(source)
      compiled.set(source, statement)
      return statement
    }
    if (known.reader) known.raw(false) // as a fresh one: whoever had it before may have changed it
    return known
  }
  connection.prepare = prepare as typeof connection.prepare
}

/** Under one exclusive lock, so that two programs which start together do not both migrate. */
function migrate(connection: Database.Database) {
  connection.exec('BEGIN EXCLUSIVE')
  try {
    connection.exec(
      'CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at BIGINT NOT NULL)',
    )
    const applied = new Set(
      connection
        .prepare<[], { name: string }>('SELECT name FROM migrations')
        .all()
        .map((row) => row.name),
    )
    const known = new Set<string>(migrations.map((migration) => migration.name))
    for (const name of applied)
      if (!known.has(name))
        throw new Error(`the database was written by a newer version (it has migration ${name})`)
    const insert = connection.prepare('INSERT INTO migrations VALUES (?, ?)')
    for (const migration of migrations) {
      if (applied.has(migration.name)) continue
      for (const statement of migration.statements) connection.exec(statement)
      insert.run(migration.name, Date.now())
    }
    connection.exec('COMMIT')
  } catch (error) {
    connection.exec('ROLLBACK')
    throw error
  }
}
