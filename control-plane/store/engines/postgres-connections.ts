/**
 * Connections to whichever of the hosts takes changes now. A pool holds those to one host; where that
 * is lost, or has become a replica, all of it is dropped and the hosts are asked in turn.
 */
import pg from 'pg'
import type { Queries } from '../engine.ts'
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
  const admitted = new WeakSet<pg.PoolClient>()
  const sessions = new WeakMap<pg.PoolClient, Session>()

  /** Unless somebody else has done so. */
  function drop(dropped: pg.Pool, nextAt: number) {
    if (dropped !== pool || isClosed) return
    at = nextAt % address.hosts.length
    pool = poolAt(address, at, most)
    const end = dropped.end().catch(() => {})
    ending.add(end)
    void end.finally(() => ending.delete(end))
  }

  function connectionOf(client: pg.PoolClient, own: pg.Pool): Connection {
    const session = sessions.getOrInsertComputed(client, createSession)
    const { run, ask, queries } = session
    return {
      queries,
      run,
      ask,
      get isLost() {
        return session.isLost
      },
      release() {
        if (session.hasChangedSides) drop(own, at)
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
          const client = await own.connect()
          if (!admitted.has(client)) await admit(client)
          admitted.add(client)
          return connectionOf(client, own)
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

async function admit(client: pg.PoolClient) {
  client.on('error', () => {}) // told to whoever asks next
  try {
    const { rows } = await client.query<{ is_replica: boolean }>(
      'SELECT pg_is_in_recovery() AS is_replica',
    )
    if (rows[0]?.is_replica !== false) throw new NotPrimary()
  } catch (error) {
    client.release(true)
    throw error
  }
}

interface Session extends Pick<Connection, 'queries' | 'run' | 'ask'> {
  isLost: boolean
  hasChangedSides: boolean
}

function createSession(client: pg.PoolClient): Session {
  function note(error: unknown): never {
    const { code = '' } = error as { code?: string }
    const isAnswer = error instanceof pg.DatabaseError && !ENDS_CONNECTION.test(code)
    if (!isAnswer && !(error instanceof UnsafeNumber)) session.isLost = true
    if (ENDS_POOL.has(code)) session.hasChangedSides = true
    throw error
  }

  const ask: Connection['ask'] = (text, values) =>
    client
      .query<unknown[]>({ text, values, rowMode: 'array', types: TYPES })
      .then(({ rows }) => rows, note)
  const session: Session = {
    ask,
    run: (text) => client.query(text).then(() => {}, note),
    queries: queriesBy(ask),
    isLost: false,
    hasChangedSides: false,
  }
  return session
}
