/**
 * Connections to whichever of the hosts takes changes now. A pool holds those to one host; where that
 * is lost, or has become a replica, all of it is dropped and the hosts are asked in turn.
 */
import pg from 'pg'
import type { Queries } from '../engine.ts'
import { createNames, isOutdated, PLANS_KEPT_MS } from './kept-statements.ts'
import type { PostgresAddress } from './postgres-address.ts'
import { queriesBy, TYPES, UnsafeNumber } from './postgres-session.ts'

/** To connect, or to be given one that somebody else has. */
const CONNECTION_WAIT_MS_MAX = 3000
const IDLE_MS_MAX = 30_000
/** So that what was moved behind a name is found again. */
const LIFE_SECONDS_MAX = 1800
/** Beyond what the database allows a statement: by then it does not answer any more. */
const ANSWER_MS_MAX = 8000

class NotPrimary extends Error {
  constructor() {
    super('none of the hosts takes changes: each is a replica')
  }
}

export interface Connection {
  /**
   * Carried out in the order of asking, on their way before the one before is answered: what is known
   * beforehand costs no round trip of its own.
   */
  readonly queries: Queries
  /** Without parameters: these may be several statements. */
  run(text: string): Promise<void>
  ask(text: string, values: unknown[]): Promise<unknown[][]>
  /** Nothing that was asked with it can be known to have happened, or not. */
  readonly isLost: boolean
  release(): void
}

export interface Connections {
  take(): Promise<Connection>
  close(): Promise<void>
}

/** Of an error, or of what led to it: PostgreSQL's five characters. */
export function stateOf(error: unknown): string | undefined {
  for (let one = error; one instanceof Error; one = one.cause)
    if (one instanceof pg.DatabaseError) return one.code
  return undefined
}

/** https://www.postgresql.org/docs/current/errcodes-appendix.html: it hangs up behind these. */
const ENDS_CONNECTION = /^(?:08|57P|25P03)/
/** The host takes changes no more, or goes. */
const ENDS_POOL = new Set(['25006', '57P01'])

export function openConnections(address: PostgresAddress, most: number): Connections {
  let at = 0
  let pool = poolAt(address, at, most)
  const ending = new Set<Promise<void>>()
  let isClosed = false
  const sessions = new WeakMap<pg.PoolClient, Session>()
  const nameOf = createNames()
  /** What sessions keep is of no use any more: of each that is older than this. */
  let outdatedMs = 0

  /** Unless somebody else has done so. */
  function drop(dropped: pg.Pool, nextAt: number) {
    if (dropped !== pool || isClosed) return
    at = nextAt % address.hosts.length
    pool = poolAt(address, at, most)
    const end = dropped.end().catch(() => {})
    ending.add(end)
    void end.finally(() => ending.delete(end))
  }

  async function sessionOf(client: pg.PoolClient): Promise<Session> {
    const known = sessions.get(client)
    if (known !== undefined) return known
    const { isOwn } = await admit(client)
    const session = createSession(client, isOwn ? nameOf : undefined)
    sessions.set(client, session)
    return session
  }

  async function takeFrom(own: pg.Pool): Promise<Connection> {
    for (;;) {
      const client = await own.connect()
      const session = await sessionOf(client)
      if (session.begunMs >= outdatedMs) return connectionOf(client, session, own)
      client.release(true)
    }
  }

  function connectionOf(client: pg.PoolClient, session: Session, own: pg.Pool): Connection {
    const { run, ask, queries } = session
    session.renewPlans()
    return {
      queries,
      run,
      ask,
      get isLost() {
        return session.isLost
      },
      release() {
        if (session.hasChangedSides) drop(own, at)
        if (session.isOutdated) outdatedMs = performance.now()
        client.release(session.isLost || session.hasChangedSides)
      },
    }
  }

  return {
    async take() {
      let problem: unknown
      for (const _ of address.hosts) {
        const own = pool
        try {
          return await takeFrom(own)
        } catch (error) {
          if ((error as Error).message === ALL_TAKEN) throw error
          problem = error
          drop(own, at + 1)
        }
      }
      throw problem
    },
    async close() {
      isClosed = true
      await Promise.all([pool.end().catch(() => {}), ...ending])
    },
  }
}

/** In the words of `pg-pool`. */
const ALL_TAKEN = 'timeout exceeded when trying to connect'

function poolAt(
  { hosts, database, user, password, tlsFor }: PostgresAddress,
  at: number,
  most: number,
) {
  const { host, port } = hosts[at] as (typeof hosts)[number]
  const pool = new pg.Pool({
    host,
    port,
    database,
    user,
    password,
    ssl: tlsFor(host),
    max: most,
    connectionTimeoutMillis: CONNECTION_WAIT_MS_MAX,
    idleTimeoutMillis: IDLE_MS_MAX,
    maxLifetimeSeconds: LIFE_SECONDS_MAX,
    query_timeout: ANSWER_MS_MAX,
    keepAlive: true,
    pipeline: true,
    application_name: 'control-plane',
  })
  pool.on('error', () => {}) // of an idle one: it is gone, and whoever comes next gets another
  return pool
}

/**
 * A pooler in between tells a number of its own making for the server's process, and lends the session
 * to others as well: what it keeps would not be found again.
 */
async function admit(client: pg.PoolClient): Promise<{ isOwn: boolean }> {
  client.on('error', () => {}) // told to whoever asks next
  try {
    const { rows } = await client.query<{ is_replica: boolean; process: number }>(
      'SELECT pg_is_in_recovery() AS is_replica, pg_backend_pid() AS process',
    )
    if (rows[0]?.is_replica !== false) throw new NotPrimary()
    return { isOwn: rows[0].process === (client as { processID?: number }).processID }
  } catch (error) {
    client.release(true)
    throw error
  }
}

interface Session extends Pick<Connection, 'queries' | 'run' | 'ask'> {
  readonly begunMs: number
  isLost: boolean
  hasChangedSides: boolean
  isOutdated: boolean
  renewPlans(): void
}

/** Without names it keeps no statements. */
function createSession(client: pg.PoolClient, nameOf?: ReturnType<typeof createNames>): Session {
  let plannedMs = performance.now()

  function note(error: unknown): never {
    const { code = '' } = error as { code?: string }
    const isAnswer = error instanceof pg.DatabaseError && !ENDS_CONNECTION.test(code)
    if (nameOf !== undefined && isOutdated(code)) session.isOutdated = session.isLost = true
    if (!isAnswer && !(error instanceof UnsafeNumber)) session.isLost = true
    if (ENDS_POOL.has(code)) session.hasChangedSides = true
    throw error
  }

  const ask: Connection['ask'] = (text, values) =>
    client
      .query<unknown[]>({ text, values, name: nameOf?.(text), rowMode: 'array', types: TYPES })
      .then(({ rows }) => rows, note)
  const session: Session = {
    ask,
    run: (text) => client.query(text).then(() => {}, note),
    queries: queriesBy(ask),
    begunMs: plannedMs,
    isLost: false,
    hasChangedSides: false,
    isOutdated: false,
    renewPlans() {
      if (nameOf === undefined || performance.now() - plannedMs < PLANS_KEPT_MS) return
      plannedMs = performance.now()
      session.run('DISCARD PLANS').catch(() => {}) // whoever asks next is told
    },
  }
  return session
}
