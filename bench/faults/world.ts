/**
 * One service as its operator runs it: control planes on one database behind a balancer, gateways
 * that know all of them, an application, a receiver of webhooks; and a supervisor that starts again
 * whatever was killed.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { request } from 'undici'
import { PASSWORD, startApplication, tenantBody } from '../../test/support/application.ts'
import { startBalancer, type Place } from '../../test/support/balancer.ts'
import { childrenOf } from '../../test/support/live-gateway.ts'
import { freePort } from '../../test/support/ports.ts'
import { ADMIN, startPostgres, type TestPostgres } from '../../test/support/postgres.ts'
import { Program, SECRETS } from '../../test/support/programs.ts'
import { startRelay } from '../../test/support/relay.ts'
import { mountSmallDisk } from '../../test/support/small-disk.ts'
import { steppedClock } from '../../test/support/stepped-clock.ts'
import { startReceiver } from '../../test/support/webhook-kills.ts'

export type DatabaseKind = 'sqlite' | 'postgres'

export const TENANT = 'acme'
const GATEWAYS = 2
const POLL_MS = 100
const ANSWER_MS = 30_000

export interface Teardown {
  teardown(work: () => unknown): void
}

export interface Answer {
  readonly status: number
  readonly body: Record<string, unknown>
  readonly retryAfter: unknown
}

type Row = Readonly<Record<string, unknown>>

interface Kept {
  /** As the config file names it; behind a port, a server that is there too. */
  readonly database: (port?: number) => string
  query(sql: string): Promise<Row[]>
}

interface WorldOptions {
  /** The way of the last control plane to the database. */
  readonly isCuttable?: boolean
  readonly hasReplica?: boolean
  /** Each program has a clock of its own, which can be set. */
  readonly hasClocks?: boolean
  /** Of the database. */
  readonly megabytes?: number
  /** Whether its server waits for the disk. */
  readonly isSynced?: boolean
}

export async function startWorld(
  t: Teardown,
  kind: DatabaseKind,
  nodes: number,
  {
    isCuttable = false,
    hasReplica = false,
    hasClocks = false,
    megabytes,
    isSynced = false,
  }: WorldOptions = {},
) {
  const scope = { after: (work: () => unknown) => t.teardown(work) }
  const folder = mkdtempSync(join(tmpdir(), 'faults-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  let disk: ReturnType<typeof mountSmallDisk> | undefined
  const prepare = (at: string, owner = 0) => {
    if (megabytes !== undefined) disk = mountSmallDisk(t, at, megabytes, owner)
  }
  const fsync = isSynced ? 'on' : 'off'
  const postgres =
    kind === 'postgres' ? await startPostgres(t, undefined, { prepare, fsync }) : undefined
  if (kind === 'sqlite') {
    mkdirSync(join(folder, 'data-0'))
    prepare(join(folder, 'data-0'))
  }
  const replica =
    hasReplica && postgres !== undefined ? await startReplica(t, postgres.port) : undefined
  const kept: Kept =
    postgres === undefined
      ? keptInFile(folder)
      : await keptInPostgres([postgres, ...(replica ? [replica.server] : [])])
  const relay =
    isCuttable && postgres !== undefined ? await startRelay(t, postgres.port) : undefined
  const relayPort = relay === undefined ? undefined : Number(relay.address.split(':')[1])
  const receiver = await startReceiver(t, { refusedOfHundred: 0 }, () => {})
  const application = await startApplication(scope)

  const balanced = await freePort()
  const places: Place[] = []
  for (let at = 0; at < Math.max(nodes, GATEWAYS); at++)
    places.push({ public: await freePort(), fleet: await freePort(), edge: await freePort() })
  const controlPlanes = places.slice(0, nodes)
  const fleetUrls = controlPlanes.map(({ fleet }) => `"http://127.0.0.1:${fleet}"`).join(', ')

  let isClosed = false
  const running = new Map<string, Program>()
  const clocks = new Map<string, ReturnType<typeof steppedClock>>()
  t.teardown(async () => {
    isClosed = true
    await Promise.all([...running.values()].map((program) => program.stop('SIGKILL')))
  })

  /** Runs from now on: it is started again however it ends. */
  async function supervise(file: string, name: string, own: Place, dataDir: string, port?: number) {
    const config = join(folder, `${name}.yaml`)
    writeFileSync(
      config,
      `base_url: http://localhost:${balanced}
data_dir: ${dataDir}
control_plane: { listen: "127.0.0.1:${own.public}", fleet_listen: "127.0.0.1:${own.fleet}", database: "${kept.database(port)}" }
edge_url: http://{hostname}:${places[0]?.edge}
webhooks: { allow_private: ["127.0.0.0/8"] }
gateway: { listen: "127.0.0.1:${own.edge}", id: ${name}, control_plane: [${fleetUrls}] }
`,
    )
    const clock = hasClocks ? steppedClock(join(folder, `${name}.clock`)) : undefined
    if (clock !== undefined) clocks.set(name, clock)
    const environment = {
      ...SECRETS,
      NODE_EXTRA_CA_CERTS: receiver.caFile,
      ...clock?.environment,
    }
    const start = async () => {
      const program = new Program(file, ['--config', config], environment)
      running.set(name, program)
      void program.exited.then(async () => {
        await sleep(POLL_MS) // where its database is away, it ends at once
        if (!isClosed) void start().catch(() => {})
      })
      await program.ready
    }
    await start()
  }

  const nameOf = (at: number) => `node-${at}`
  const gateways = places.slice(0, GATEWAYS).map((own, at) => ({
    name: `gateway-${at}`,
    url: `http://${TENANT}.localhost:${own.edge}`,
    own,
  }))
  await supervise('control-plane/main.ts', nameOf(0), places[0] as Place, join(folder, 'data-0'))
  await Promise.all([
    ...controlPlanes
      .slice(1)
      .map((own, at) =>
        supervise(
          'control-plane/main.ts',
          nameOf(at + 1),
          own,
          join(folder, `data-${at + 1}`),
          at + 2 === nodes ? relayPort : undefined,
        ),
      ),
    ...gateways.map(({ name, own }) => supervise('gateway/main.ts', name, own, join(folder, name))),
  ])
  await startBalancer(scope, balanced, controlPlanes, { isReadyAsked: isCuttable })

  const operator = (method: string, path: string, body?: unknown) =>
    ask(balanced, method, path, body)

  async function ask(port: number, method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await request(`http://127.0.0.1:${port}/api/v1/operator${path}`, {
      method: method as 'GET',
      headersTimeout: ANSWER_MS,
      bodyTimeout: ANSWER_MS,
      headers: {
        authorization: `Bearer ${SECRETS.SERVICE_OPERATOR_KEY}`,
        'content-type': 'application/json',
      },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const text = await answer.body.text()
    const said = text === '' ? {} : (JSON.parse(text) as Row)
    return { status: answer.statusCode, body: said, retryAfter: answer.headers['retry-after'] }
  }

  /** All of it is there, and every gateway has the newest state. */
  async function settled(): Promise<void> {
    const isSettled = async () => {
      const { status, body } = await operator('GET', '/gateways')
      const items = (body['items'] ?? []) as {
        gateway_id: string
        connected: boolean
        lag: number
      }[]
      const there = items.filter(({ connected, lag }) => connected && lag === 0)
      const names = new Set(there.map(({ gateway_id }) => gateway_id))
      return status === 200 && gateways.every(({ name }) => names.has(name))
    }
    await untilTrue(isSettled, 'gateways that have the newest state')
  }

  async function must(method: string, path: string, body?: unknown) {
    const answer = await operator(method, path, body)
    if (answer.status >= 300)
      throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  }
  const plan = { plan: 'premium', idle_seconds: 3600, max_session_seconds: 36_000 }
  await must('POST', '/tenants', tenantBody(TENANT, application.origin, plan))
  await must('POST', `/tenants/${TENANT}/publish`)
  await must('POST', `/tenants/${TENANT}/go-live`, { force: true })
  const webhook = { url: receiver.url, events: ['session.revoked'] }
  await must('POST', `/tenants/${TENANT}/webhooks`, webhook)

  return {
    kind,
    fleetPorts: controlPlanes.map(({ fleet }) => fleet),
    arrivals: receiver.arrivals,
    gateways,
    password: PASSWORD,
    operator,
    /** The same of one control plane, whatever the balancer thinks of it. */
    operatorAt: (node: number, method: string, path: string, body?: unknown) =>
      ask(controlPlanes[node]?.public ?? 0, method, path, body),
    async ready(node: number) {
      const answer = await request(`http://127.0.0.1:${controlPlanes[node]?.public}/health/ready`, {
        headersTimeout: ANSWER_MS,
      })
      return { status: answer.statusCode, text: await answer.body.text() }
    },
    programs: () =>
      [...running].map(([name, { child }]) => ({
        name,
        pid: child.pid,
        setClock: (seconds: number) => clocks.get(name)?.set(seconds),
      })),
    /** Of the process that runs now: another one is another number. */
    pidOf: (node: number) => running.get(nameOf(node))?.child.pid,
    cut: () => relay?.holdBack(),
    mend: () => relay?.letGo(),
    fillDisk: () => disk?.fill(),
    async emptyDisk() {
      disk?.empty()
      await postgres?.start() // unless it has stood it
    },
    /** Unless it runs. */
    startDatabase: () => postgres?.start(),
    /** Whoever writes to its files. */
    databasePids(): readonly number[] {
      const own = postgres === undefined ? running.get(nameOf(0))?.child.pid : postgres.pid()
      if (own === undefined) return []
      return postgres === undefined ? [own] : [own, ...childrenOf(own)]
    },
    /** A setting of the server, for all who connect and all who are connected. */
    async setDatabase(name: string, value: string) {
      await postgres?.run(`ALTER SYSTEM SET ${name} = ${value}`)
      await postgres?.run('SELECT pg_reload_conf()')
    },
    /** From now on the replica hears of nothing more. */
    stopReplication: () => replica?.relay.fallSilent(),
    /** The machine of the database is gone, and the replica takes over with what it has. */
    async failOver() {
      await postgres?.kill('SIGKILL')
      await replica?.server.run('SELECT pg_promote()')
    },
    /** Where the database can be asked past all relays. */
    database: kept.database(),
    settled,
    query: kept.query,
    /** Whether it was there to be killed. */
    killProgram: (name: string) => running.get(name)?.child.kill('SIGKILL') ?? false,
    /** As an administrator ends a connection, or as the kernel does that is out of memory. */
    async killBackend(pick: number, isHard: boolean) {
      const rows = await kept.query(
        `SELECT pid FROM pg_stat_activity WHERE datname = 'service'
         AND backend_type = 'client backend' AND pid <> pg_backend_pid()
         ORDER BY state = 'active' DESC, pid`,
      )
      const pid = Number(rows[Math.floor(pick * rows.length)]?.['pid'] ?? 0)
      if (pid === 0) return false
      if (isHard) return killIfThere(pid)
      await kept.query(`SELECT pg_terminate_backend(${pid})`)
      return true
    },
    async killDatabase() {
      await postgres?.kill('SIGKILL')
      await postgres?.start()
      return true
    },
  }
}

export type World = Awaited<ReturnType<typeof startWorld>>

function killIfThere(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false // it has gone by itself
  }
}

function keptInFile(folder: string): Kept {
  const file = join(folder, 'data-0', 'service.db')
  return {
    database: () => 'sqlite',
    async query(sql) {
      const database = new Database(file, { readonly: true, timeout: ANSWER_MS })
      try {
        return database.prepare<[], Row>(sql).all()
      } finally {
        database.close()
      }
    },
  }
}

/** Over a relay, which may fall silent. */
async function startReplica(t: Teardown, port: number) {
  const relay = await startRelay(t, port)
  const replicaOf = Number(relay.address.split(':')[1])
  return { relay, server: await startPostgres(t, undefined, { replicaOf }) }
}

async function keptInPostgres(servers: readonly TestPostgres[]): Promise<Kept> {
  await servers[0]?.run('CREATE DATABASE service')
  const { user, password } = ADMIN
  const who = `${user}:${encodeURIComponent(password)}`
  return {
    database(port) {
      const ports = port === undefined ? servers.map((server) => server.port) : [port]
      return `postgres://${who}@${ports.map((one) => `127.0.0.1:${one}`).join(',')}/service`
    },
    /** Of whoever takes changes. */
    async query(sql) {
      let last: unknown
      for (const server of servers.toReversed())
        try {
          const { rows } = await server.run('SELECT pg_is_in_recovery() AS is_replica')
          const [row] = rows as { is_replica: boolean }[]
          if (row?.is_replica === false) return (await server.run(sql, 'service')).rows as Row[]
        } catch (error) {
          last = error
        }
      throw new Error('no server takes changes', { cause: last })
    },
  }
}

/** What is asked may be away at times. */
export async function untilTrue(isTrue: () => Promise<boolean>, what: string, timeoutMs = 120_000) {
  const untilMs = performance.now() + timeoutMs
  for (let last: unknown; ; await sleep(POLL_MS)) {
    try {
      if (await isTrue()) return
    } catch (error) {
      last = error
    }
    if (performance.now() > untilMs)
      throw new Error(`not within ${timeoutMs} ms: ${what}`, { cause: last })
  }
}
