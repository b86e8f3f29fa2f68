/**
 * Postgres behind two pools: one for changes, one for what only reads, so that a change which reads
 * beside itself never waits for itself. What a session would keep is said anew with each change: so
 * it makes no difference whether PgBouncer lends sessions from change to change.
 */
import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Refusal } from '../../../shared/errors.ts'
import { LIMITS } from '../../../shared/limits.ts'
import type { Engine, Queries } from '../engine.ts'
import { createWriteQueue } from '../precedence.ts'
import type { PostgresAddress } from './postgres-address.ts'
import { openConnections, stateOf, type Connection } from './postgres-connections.ts'
import { migratePostgres } from './postgres-migrations.ts'
import { numbers } from './postgres-numbers.ts'
import { queriesBy } from './postgres-session.ts'

/** Twenty in all; of those that change one is for what is about all tenants. */
const CHANGING_MAX = 13
const READING_MAX = 7

/** Of locks, each of two numbers: of all, shared by those that are of one tenant, and of that tenant. */
const ALL = '24129, 0'
const OF_TENANT = 24_130

/** A change waits so long for others, in line and for locks together, before its asker is refused. */
const LOCK_MS_MAX = 2000
/** Who has waited in line is not refused for a lock that is on its way. */
const LOCK_MS_MIN = 250

/** In one round trip: what the locks that it begins with have cost is not there for the last one. */
function beginWith(lockMs: number, ...locks: string[]): string {
  const settings =
    `set_config('lock_timeout', '${lockMs}', true), set_config('statement_timeout', '5000', true), ` +
    `set_config('idle_in_transaction_session_timeout', '5000', true)`
  const waited = `(1000 * extract(epoch FROM clock_timestamp() - transaction_timestamp()))::int`
  const left = `set_config('lock_timeout', greatest(${lockMs} - ${waited}, ${LOCK_MS_MIN})::text, true)`
  return `BEGIN ISOLATION LEVEL READ COMMITTED; SELECT ${[settings, ...locks, left].join('; SELECT ')}`
}

const LOCK_ALL = `pg_advisory_xact_lock(${ALL})`

/** Two tenants may have one lock, by chance: then one waits for the other. */
function locksOf(tenantId: string): string[] {
  const lock = createHash('sha256').update(tenantId).digest().readInt32BE(0)
  return [`pg_advisory_xact_lock_shared(${ALL})`, `pg_advisory_xact_lock(${OF_TENANT}, ${lock})`]
}

/** Of changes that come one after the other. */
interface Line {
  /** The last one has waited for somebody's lock in vain. */
  isStuck: boolean
}

/** How long a change may still wait for locks. Behind one that waited in vain, it has waited as well. */
function lockMsOf({ isStuck }: Line, askedMs: number): number {
  const leftMs = Math.ceil(LOCK_MS_MAX - (performance.now() - askedMs))
  if (isStuck && leftMs < LOCK_MS_MIN) throw busy(new Error('the change before has waited as well'))
  return Math.max(leftMs, LOCK_MS_MIN)
}

async function noting<T>(line: Line, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work()
    line.isStuck = false
    return result
  } catch (error) {
    line.isStuck = error instanceof Refusal && stateOf(error.cause) === LOCK_NOT_AVAILABLE
    throw error
  }
}

const RETRY_MS = 50
/** A change whose answer was lost is looked for within seconds. */
const CHANGES_KEPT_MS = 60 * 60 * 1000
const COMMITS_PER_PRUNING = 1000
/** Of changes that share a commit, and a lock: the first of them waits for the last. */
const CHANGES_PER_COMMIT_MAX = 64
const COMMIT_WORK_MS_MAX = 50

type Work<T> = (queries: Queries) => Promise<T>
const noPause = () => Promise.resolve()

/** Nothing of it has happened, and it may be tried again. */
class Again extends Error {}

interface Shared {
  readonly connection: Connection
  changes: number
  /** Why all of it is given up. */
  problem: Error | null
  /** The first has failed: there is nothing to go back to. */
  isNothing: boolean
  /** One has waited for somebody's lock in vain. */
  isStuck: boolean
}

const SAVE = 'SAVEPOINT change'
const SAVE_NEXT = `RELEASE change; ${SAVE}`

/** Serialization failures and deadlocks, and a host that takes no changes any more. */
const MAY_BE_TRIED_AGAIN = new Set(['40001', '40P01', '25006'])
/** Somebody has held a lock, or the server has been busy, for too long; or it or its disk is full, or fails. */
const BUSY = /^(?:55P03|57014|53|58030)/
const LOCK_NOT_AVAILABLE = '55P03'

interface Times {
  readonly busyMsMax?: number
  readonly commitWorkMsMax?: number
}

export async function openPostgres(
  address: PostgresAddress,
  { busyMsMax = LIMITS.storeBusyMsMax, commitWorkMsMax = COMMIT_WORK_MS_MAX }: Times = {},
): Promise<Engine> {
  const writers = openConnections(address, CHANGING_MAX)
  const readers = openConnections(address, READING_MAX)
  const alone = createWriteQueue({
    breathe: noPause,
    together: { keep, changesMax: CHANGES_PER_COMMIT_MAX, msMax: commitWorkMsMax },
  })
  const ofTenants = createWriteQueue({ breathe: noPause, atOnce: CHANGING_MAX - 1 })
  const byTenant = new Map<
    string,
    Line & { asked: number; queue: ReturnType<typeof createWriteQueue> }
  >()
  const aloneLine: Line = { isStuck: false }
  let isClosed = false
  let commits = 0
  /** What is about all tenants, and shares a commit. */
  let shared: Shared | undefined

  /** Again only where it is known that nothing has happened. */
  async function untilDone<T>(work: () => Promise<T>, untilMs: number): Promise<T> {
    for (;;)
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof Again)) throw error
        if (performance.now() > untilMs) throw busy(error.cause)
        await sleep(RETRY_MS * (0.5 + Math.random()))
      }
  }

  async function changeOf<T>(
    tenantId: string,
    work: Work<T>,
    lockMs: number,
    untilMs: number,
  ): Promise<T> {
    const connection = await take()
    try {
      const result = await undoneOnFailure(connection, async () => {
        const begun = connection.run(beginWith(lockMs, ...locksOf(tenantId)))
        const worked = work(connection.queries)
        const settled = worked.catch(() => {})
        await begun.catch(async (error: unknown) => {
          await settled
          throw error // why all behind it has failed
        })
        return await worked
      })
      await commit(connection, untilMs)
      return result
    } finally {
      connection.release()
    }
  }

  /** Whoever has come while the last commit was on its way shares the next. */
  async function keep(work: (isOpen: () => boolean) => Promise<void>, askedMs: number) {
    const untilMs = askedMs + busyMsMax
    const once = async () => {
      const lockMs = lockMsOf(aloneLine, askedMs)
      const connection = await take()
      const own: Shared = {
        connection,
        changes: 0,
        problem: null,
        isNothing: false,
        isStuck: false,
      }
      try {
        await undoneOnFailure(connection, async () => {
          await connection.run(beginWith(lockMs, LOCK_ALL))
          shared = own
          await work(() => own.problem === null && !own.isNothing)
          if (own.problem !== null) throw own.problem
          if (own.isNothing) await connection.run('ROLLBACK')
        })
        if (!own.isNothing) await commit(connection, untilMs)
        return own
      } finally {
        shared = undefined
        connection.release()
      }
    }
    const { isStuck } = await noting(aloneLine, () => untilDone(once, untilMs))
    aloneLine.isStuck = isStuck
  }

  /** What fails is its asker's alone, unless the database gives up everything. */
  async function together<T>(work: Work<T>): Promise<T> {
    if (shared === undefined) throw new Error('no transaction has been begun')
    const own = shared
    const { connection } = own
    const isFirst = own.changes++ === 0
    if (!isFirst) connection.run(own.changes === 2 ? SAVE : SAVE_NEXT).catch(() => {})
    try {
      return await work(connection.queries)
    } catch (error) {
      if (isFirst) own.isNothing = true
      else if (!connection.isLost) await connection.run('ROLLBACK TO change').catch(() => {})
      const state = stateOf(error) ?? ''
      if (connection.isLost || MAY_BE_TRIED_AGAIN.has(state)) own.problem = error as Error
      if (state === LOCK_NOT_AVAILABLE) own.isStuck = true
      throw BUSY.test(state) ? busy(error) : error
    }
  }

  async function take(): Promise<Connection> {
    return await writers.take().catch((error: unknown) => Promise.reject(again(error)))
  }

  /** With a row that tells whether it has happened, where the answer is lost. */
  async function commit(connection: Connection, untilMs: number) {
    const changeId = randomUUID()
    const nowMs = Date.now()
    const isPruning = ++commits % COMMITS_PER_PRUNING === 0
    const prune = isPruning ? [`DELETE FROM changes WHERE at < ${nowMs - CHANGES_KEPT_MS}`] : []
    const remember = `INSERT INTO changes (change_id, at, is_void) SELECT '${changeId}', ${nowMs}, 0
      WHERE pg_current_xact_id_if_assigned() IS NOT NULL`
    try {
      await undoneOnFailure(connection, () =>
        connection.run([...prune, remember, 'COMMIT'].join('; ')),
      )
    } catch (error) {
      if (!connection.isLost || !(await hasHappened(changeId, untilMs))) throw error
    }
  }

  /**
   * The same row is written by whoever asks: either it is there already, or what may still be on its
   * way to the database runs into it and comes to nothing.
   */
  async function hasHappened(changeId: string, untilMs: number): Promise<boolean> {
    for (;;) {
      try {
        const connection = await writers.take()
        try {
          await connection.run(beginWith(LOCK_MS_MAX))
          await connection.run(`INSERT INTO changes (change_id, at, is_void)
            VALUES ('${changeId}', ${Date.now()}, 1) ON CONFLICT DO NOTHING`)
          await connection.run('COMMIT')
          const found = 'SELECT is_void FROM changes WHERE change_id = $1'
          const [[isVoid] = []] = await connection.ask(found, [changeId])
          return isVoid === 0
        } finally {
          connection.release()
        }
      } catch (error) {
        // nobody is told that it has happened, nor that it has not
        if (performance.now() > untilMs) throw busy(error)
        await sleep(RETRY_MS)
      }
    }
  }

  /** What only reads may be asked twice. */
  async function read(text: string, values: unknown[]): Promise<unknown[][]> {
    for (let isSecond = false; ; isSecond = true) {
      const connection = await readers.take().catch((error: unknown) => Promise.reject(busy(error)))
      try {
        return await connection.ask(text, values)
      } catch (error) {
        if (BUSY.test(stateOf(error) ?? '')) throw busy(error)
        if (!connection.isLost) throw error
        if (isSecond) throw busy(error)
      } finally {
        connection.release()
      }
    }
  }

  try {
    await migratePostgres(writers)
  } catch (error) {
    await writers.close()
    throw error
  }
  return {
    reader: queriesBy(read),
    numbers,
    transaction(work) {
      if (isClosed) return Promise.reject(new Error('the store is closed'))
      return alone.enter(() => together(work))
    },
    async transactionOf(tenantId, work) {
      if (isClosed) throw new Error('the store is closed')
      const askedMs = performance.now()
      const untilMs = askedMs + busyMsMax
      // of one tenant one at a time, so that none of them holds a connection while it waits
      const own = byTenant.getOrInsertComputed(tenantId, () => ({
        asked: 0,
        isStuck: false,
        queue: createWriteQueue({ breathe: noPause }),
      }))
      own.asked++
      try {
        const once = () => changeOf(tenantId, work, lockMsOf(own, askedMs), untilMs)
        const done = () => noting(own, () => untilDone(once, untilMs))
        return await own.queue.enter(() => ofTenants.enter(done))
      } finally {
        if (--own.asked === 0) byTenant.delete(tenantId)
      }
    },
    async close() {
      isClosed = true
      for (const own of byTenant.values()) await own.queue.settled()
      await Promise.all([alone.settled(), ofTenants.settled()])
      await Promise.all([writers.close(), readers.close()])
    },
  }
}

async function undoneOnFailure<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!connection.isLost) await connection.run('ROLLBACK').catch(() => {})
    const state = stateOf(error) ?? ''
    if (connection.isLost || MAY_BE_TRIED_AGAIN.has(state)) throw again(error)
    throw BUSY.test(state) ? busy(error) : error
  }
}

const again = (cause: unknown) => new Again('try again', { cause })

function busy(cause: unknown): Refusal {
  const refusal = new Refusal('unavailable', { retry_after: 5 })
  refusal.cause = cause
  return refusal
}
