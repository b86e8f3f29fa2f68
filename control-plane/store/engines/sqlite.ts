/**
 * SQLite behind two connections: one that writes, one change at a time, and one that reads what
 * is committed. Drizzle's own `transaction()` cannot await on this driver, so BEGIN and COMMIT are
 * ours, and a queue keeps one change from reading into another.
 */
import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { LRUCache } from 'lru-cache'
import { Refusal } from '../../../shared/errors.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { drizzle } from '../drizzle.ts'
import type { Engine, Numbers, Queries } from '../engine.ts'
import { folded } from '../migrations/folded.ts'
import { migrations } from '../migrations/migrations.ts'
import { createWriteQueue } from '../precedence.ts'
import { nextOf } from '../queries/counters.ts'
import { schema } from '../schema.ts'
import { cannotWrite } from './cannot-write.ts'
import { countRows, type CountedRows, type RowsTold } from './counted-rows.ts'

const BUSY_RETRY_MS = 20
const STATEMENTS_KEPT_MAX = 500
/** Of changes that share a commit: the first of them waits for the last. */
const CHANGES_PER_COMMIT_MAX = 64
const COMMIT_WORK_MS_MAX = 10

/** `told`: of the rows of each change and statement. */
export function openSqlite(
  file: string,
  busyMsMax: number = LIMITS.storeBusyMsMax,
  told?: RowsTold,
): Engine {
  const rows = told && countRows(told)
  const writer = connect(file, rows)
  migrate(writer)
  // SQLite would wait on this thread, and everything with it: `begin` waits instead.
  writer.pragma('busy_timeout = 0')
  const readerConnection = connect(file, rows)
  readerConnection.pragma('query_only = ON')
  const writerQueries = drizzle(writer, { schema }) as unknown as Queries
  const queue = createWriteQueue({
    breathe: () => breathe(),
    together: { keep, changesMax: CHANGES_PER_COMMIT_MAX, msMax: COMMIT_WORK_MS_MAX },
  })
  let isClosed = false
  /** What SQLite has taken back by itself. */
  let lost: Error[] = []

  /** A commit waits for the disk, and everything with it: whoever has come by then shares the next. */
  async function keep(work: (isOpen: () => boolean) => Promise<void>, askedMs: number) {
    lost = []
    await begin(askedMs + busyMsMax) // whoever asks does not wait for others' waits
    await work(() => lost.length === 0)
    for (const error of lost) throw error
    try {
      writer.exec('COMMIT')
    } catch (error) {
      if (writer.inTransaction) writer.exec('ROLLBACK')
      throw refusedIfFull(error)
    }
  }

  /** What fails is its asker's alone, unless SQLite takes back everything: a full disk, for one. */
  async function alone<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    writer.exec('SAVEPOINT change')
    try {
      const result = await work(writerQueries)
      writer.exec('RELEASE change')
      return result
    } catch (error) {
      if (writer.inTransaction) writer.exec('ROLLBACK TO change; RELEASE change')
      else lost.push(refusedIfFull(error))
      throw refusedIfFull(error)
    }
  }

  /** Another program may have the lock: a backup, somebody's shell. */
  async function begin(deadlineMs: number) {
    for (;;)
      try {
        writer.exec('BEGIN IMMEDIATE')
        return
      } catch (error) {
        if (!(error as { code?: string }).code?.startsWith('SQLITE_BUSY'))
          throw refusedIfFull(error)
        if (performance.now() > deadlineMs) throw new Refusal('unavailable', { retry_after: 5 })
        await sleep(BUSY_RETRY_MS)
      }
  }

  const transaction: Engine['transaction'] = (work) => {
    // what was asked for before is carried out; whoever goes on and on ends here
    if (isClosed) return Promise.reject(new Error('the store is closed'))
    const counted = rows?.ofChange(work) ?? work
    return queue.enter(() => alone(counted))
  }

  return {
    reader: drizzle(readerConnection, { schema }) as unknown as Queries,
    numbers,
    transaction,
    transactionOf: (_tenantId, work) => transaction(work), // there is one writer
    async close() {
      isClosed = true
      await queue.settled()
      readerConnection.close()
      writer.close()
    },
  }
}

/** Nothing of it is kept, and it may be asked for again. */
function refusedIfFull(error: unknown): Error {
  if (cannotWrite(error) === undefined || error instanceof Refusal) return error as Error
  return Object.assign(new Refusal('unavailable', { retry_after: 5 }), { cause: error })
}

/** There is one writer: a counter holds nobody up, and is taken back with its change. */
const numbers: Numbers = {
  async take(queries, kind, count) {
    const last = await nextOf(queries, kind, count)
    return Array.from({ length: count }, (_, at) => last - count + 1 + at)
  },
  async skip(queries, by) {
    for (const kind of ['event', 'audit']) await nextOf(queries, kind, by)
  },
}

function connect(file: string, rows?: CountedRows) {
  const connection = new Database(file, { timeout: LIMITS.storeBusyMsMax })
  connection.pragma('journal_mode = WAL')
  connection.pragma('synchronous = FULL') // only FULL keeps an acknowledged commit through power loss
  connection.pragma('foreign_keys = ON')
  keepStatements(connection, rows)
  return connection
}

/** Compiling costs more than running: drizzle asks for the same few hundred texts again and again. */
function keepStatements(connection: Database.Database, rows?: CountedRows) {
  const compiled = new LRUCache<string, Database.Statement>({ max: STATEMENTS_KEPT_MAX })
  const compile = connection.prepare.bind(connection)
  const prepare = (source: string): Database.Statement => {
    const known = compiled.get(source)
    if (known === undefined) {
      const statement = compile(source)
      rows?.of(statement)
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
    const missing = migrations.filter(({ name }) => !applied.has(name))
    const statements =
      applied.size === 0 ? folded(missing) : missing.flatMap(({ statements }) => statements)
    for (const statement of statements) connection.exec(statement)
    for (const { name } of missing) insert.run(name, Date.now())
    connection.exec('COMMIT')
  } catch (error) {
    connection.exec('ROLLBACK')
    throw error
  }
}
