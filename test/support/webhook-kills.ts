/**
 * Kills the real control plane with SIGKILL at random moments, while events happen and deliveries
 * are under way, and says afterwards what came of every event: what the store has committed, and
 * what has arrived at a receiver that remembers everything.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { Agent } from 'undici'
import { freePort } from './ports.ts'
import { Program, SECRETS } from './programs.ts'
import { createTestAuthority } from './test-certificates.ts'

interface Teardown {
  teardown(work: () => unknown): void
}

export interface KillOptions {
  readonly kills: number
  /** Answers and arrivals up to the next kill, at most. */
  readonly ticksMax: number
  /** Of a hundred deliveries so many are refused, to be tried again. */
  readonly refusedOfHundred: number
  readonly onKill?: (done: number) => void
}

export interface KillReport {
  /** Calls that were answered and did something: each must have been committed. */
  readonly acknowledged: number
  /** Events that the store has committed. */
  readonly events: number
  readonly arrivals: number
  /** Committed, and never arrived. */
  readonly missing: readonly string[]
  /** Arrived, and never committed. */
  readonly invented: readonly string[]
  /** Made more than one delivery of. */
  readonly doubled: readonly string[]
  /** Acknowledged, and not in the store. */
  readonly lost: number
  readonly attemptsMax: number
}

const TENANTS = ['alpha', 'beta', 'gamma']
const EVENTS = ['tenant.suspended', 'tenant.activated']
const POLL_MS = 200

export interface Arrival {
  readonly id: string
  readonly event: string
  readonly tenant_id: string
  readonly created_at: string
  readonly data: Readonly<Record<string, unknown>>
}

export async function killUnderLoad(t: Teardown, options: KillOptions): Promise<KillReport> {
  const folder = mkdtempSync(join(tmpdir(), 'kills-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  let tick = () => {}
  const receiver = await startReceiver(t, options, () => tick())
  const controlPlane = await prepare(folder, receiver.caFile)
  t.teardown(() => controlPlane.kill())
  await controlPlane.start()
  for (const tenantId of TENANTS) await controlPlane.tenant(tenantId, receiver.url)

  let acknowledged = 0
  for (let kill = 1; kill <= options.kills; kill++) {
    const dead = new Promise<void>((resolve) => {
      let left = 1 + Math.floor(Math.random() * options.ticksMax)
      tick = () => {
        left -= 1
        if (left === 0) void controlPlane.kill().then(resolve)
      }
    })
    const loads = TENANTS.map(async (tenantId) => {
      for (let turn = 0; ; turn++) {
        const state = turn % 2 === 0 ? 'suspend' : 'activate'
        if (!(await controlPlane.call(`/tenants/${tenantId}/${state}`))) return
        if (turn > 0) acknowledged += 1 // the first may find the tenant as it asks for it to be
        tick()
      }
    })
    await dead
    await Promise.all(loads)
    tick = () => {}
    await controlPlane.start()
    options.onKill?.(kill)
  }
  const database = join(folder, 'data/service.db')
  while (!(await isSettled(database))) {
    await controlPlane.stop()
    moveForward(database)
    await controlPlane.start()
  }
  await controlPlane.stop()
  return report(database, receiver.arrivals, acknowledged)
}

/** Remembers what it took; `tick` is called for everything, before it answers. */
export async function startReceiver(
  t: Teardown,
  { refusedOfHundred }: Pick<KillOptions, 'refusedOfHundred'>,
  tick: () => void,
) {
  const authority = createTestAuthority(t)
  const { private_key_pem: key, certificate_pem: cert } = authority.issue('localhost')
  const folder = mkdtempSync(join(tmpdir(), 'receiver-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, authority.caPem)
  const arrivals: Arrival[] = []
  const server = createServer({ key, cert }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => void chunks.push(chunk))
    request.on('end', () => {
      const isRefused = Math.random() * 100 < refusedOfHundred
      if (!isRefused) arrivals.push(JSON.parse(Buffer.concat(chunks).toString()) as Arrival)
      tick() // some die here, before they hear of it
      response.writeHead(isRefused ? 500 : 204).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { caFile, arrivals, url: `https://localhost:${(server.address() as AddressInfo).port}/` }
}

async function prepare(folder: string, caFile: string) {
  const [port, fleetPort] = [await freePort(), await freePort()]
  const config = join(folder, 'config.yaml')
  writeFileSync(
    config,
    `base_url: http://localhost:${port}
data_dir: ${folder}/data
control_plane: { listen: "127.0.0.1:${port}", fleet_listen: "127.0.0.1:${fleetPort}" }
webhooks: { allow_private: ["127.0.0.0/8"] }
`,
  )
  const agent = new Agent({ keepAliveTimeout: 1000 })
  let program: Program | undefined

  async function request(path: string, body: unknown = {}) {
    const answer = await agent.request({
      origin: `http://127.0.0.1:${port}`,
      path: `/api/v1/operator${path}`,
      method: 'POST',
      headers: {
        authorization: `Bearer ${SECRETS.SERVICE_OPERATOR_KEY}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    })
    const text = await answer.body.text()
    if (answer.statusCode >= 300) throw new Error(`${path}: ${answer.statusCode} ${text}`)
  }

  return {
    async start() {
      const environment = { ...SECRETS, NODE_EXTRA_CA_CERTS: caFile }
      program = new Program('control-plane/main.ts', ['--config', config], environment)
      await program.ready
    },
    kill: async () => void (await program?.stop('SIGKILL')),
    stop: async () => void (await program?.stop()),
    async tenant(tenantId: string, url: string) {
      const hostnames = [`${tenantId}.localhost`]
      const origin = 'http://127.0.0.1:9000'
      await request('/tenants', { tenant_id: tenantId, plan: 'premium', hostnames, origin })
      await request(`/tenants/${tenantId}/publish`)
      await request(`/tenants/${tenantId}/webhooks`, { url, events: EVENTS })
    },
    /** Whether it was answered; who dies over it answers nobody. */
    call: (path: string) =>
      request(path).then(
        () => true,
        () => false,
      ),
  }
}

/** Waits until nothing is due any more; answers whether nothing is left for later either. */
async function isSettled(file: string): Promise<boolean> {
  const database = new Database(file, { readonly: true })
  const number = (query: string, ...values: number[]) =>
    database
      .prepare<number[], number>(query)
      .pluck()
      .get(...values) ?? 0
  try {
    for (;;) {
      const due = number(
        `SELECT count(*) FROM webhook_deliveries WHERE state = 'pending'
         AND (lease_owner IS NOT NULL OR next_at <= ?)`,
        Date.now(),
      )
      const newest = number(`SELECT max(sequence) FROM outbox`)
      const position = number(`SELECT value FROM counters WHERE name = 'webhooks'`)
      if (due === 0 && position >= newest)
        return number(`SELECT count(*) FROM webhook_deliveries WHERE state = 'pending'`) === 0
      await pause(POLL_MS)
    }
  } finally {
    database.close()
  }
}

/** The rest of the two hours, without waiting for it. */
function moveForward(file: string) {
  const database = new Database(file)
  database.prepare(`UPDATE webhook_deliveries SET next_at = 0 WHERE state = 'pending'`).run()
  database.close()
}

function report(file: string, arrivals: readonly Arrival[], acknowledged: number): KillReport {
  const database = new Database(file, { readonly: true })
  const outbox = database
    .prepare<[], { event: string; tenant_id: string; created_at: number }>(
      'SELECT event, tenant_id, created_at FROM outbox',
    )
    .all()
  const attemptsMax = database
    .prepare<[], number>('SELECT max(attempts) FROM webhook_deliveries')
    .pluck()
    .get()
  database.close()
  // the same delivery may arrive twice, but then under one id
  const byId = new Map(arrivals.map((arrival) => [arrival.id, arrival]))
  const arrived = [...byId.values()].map((one) => nameOf(one.tenant_id, one.event, one.created_at))
  const committed = outbox.map((row) =>
    nameOf(row.tenant_id, row.event, new Date(row.created_at).toISOString()),
  )
  const perDelivery = Map.groupBy(arrivals, ({ id }) => id)
  const mostArrivals = Math.max(0, ...[...perDelivery.values()].map((same) => same.length))
  return {
    acknowledged,
    events: committed.length,
    arrivals: arrivals.length,
    missing: without(committed, arrived),
    invented: arrived.filter((name) => !committed.includes(name)),
    doubled: without(arrived, committed).filter((name) => committed.includes(name)),
    lost: Math.max(0, acknowledged - committed.length),
    attemptsMax: Math.max(attemptsMax ?? 0, mostArrivals),
  }
}

const nameOf = (tenantId: string, event: string, at: string) => `${tenantId} ${event} ${at}`

/** What is in the first list more often than in the second. */
function without(all: readonly string[], found: readonly string[]): string[] {
  const left = new Map<string, number>()
  for (const name of found) left.set(name, (left.get(name) ?? 0) + 1)
  return all.filter((name) => {
    const count = left.get(name) ?? 0
    left.set(name, count - 1)
    return count <= 0
  })
}
