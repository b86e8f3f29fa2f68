/** Kills at random moments under load, lets everything come back, and judges what is left. */
import { setTimeout as sleep } from 'node:timers/promises'
import { findings, type Kept, type Kind } from './history.ts'
import { startLoad } from './load.ts'
import { startWatcher } from './watcher.ts'
import {
  startWorld,
  TENANT,
  untilTrue,
  type DatabaseKind,
  type Teardown,
  type World,
} from './world.ts'

export interface FaultOptions {
  readonly kills: number
  readonly database: DatabaseKind
  readonly nodes: number
  readonly seed: number
  readonly onKill?: (progress: Progress) => void
}

export interface Progress {
  readonly kills: number
  readonly what: string
  readonly acknowledged: number
  readonly lost: number
}

export interface FaultReport {
  readonly findings: readonly string[]
  readonly figures: Readonly<Record<string, number>>
  /** What clients met beside answers, and how often. */
  readonly failed: ReadonlyMap<string, number>
}

/** Acknowledged changes and sign-ins up to the next kill, at most. */
const ANSWERS_MAX = 40
const MOMENT_MAX_MS = 40
const MET_MS = 120_000

export async function runFaults(t: Teardown, options: FaultOptions): Promise<FaultReport> {
  const { kills, database, nodes, seed } = options
  const world = await startWorld(t, database, nodes)
  const random = randomFrom(seed)
  const faults = faultsOf(world, nodes)
  await world.settled()
  const revisionBefore = await revisionOf(world)
  const watcher = startWatcher(world.fleetPorts)
  t.teardown(() => watcher.stop())
  let answered = () => {}
  const load = startLoad(world, () => answered())
  t.teardown(() => load.stop())

  for (let kill = 1; kill <= kills; kill++) {
    await new Promise<void>((resolve, reject) => {
      let left = 1 + Math.floor(random() * ANSWERS_MAX)
      const late = setTimeout(
        () => reject(new Error(`nothing was answered for ${MET_MS} ms behind kill ${kill - 1}`)),
        MET_MS,
      )
      answered = () => {
        left -= 1
        if (left > 0) return
        clearTimeout(late)
        resolve()
      }
    })
    answered = () => {}
    await sleep(random() * MOMENT_MAX_MS)
    const what = await struck(faults, random)
    const [acknowledged, lost] = [load.count('acknowledged'), load.count('lost')]
    options.onKill?.({ kills: kill, what, acknowledged, lost })
  }

  await load.stop()
  await world.settled()
  const before = await keptBy(world)
  await load.lastProbe(new Set(before.revoked))
  const isDelivered = () => {
    const arrived = new Set(world.arrivals.map(({ data }) => data['sid']))
    return before.events.every((sid) => arrived.has(sid))
  }
  await untilTrue(async () => isDelivered(), 'deliveries of every event').catch(() => {})
  const isTold = async () => watcher.told.at(-1)?.revision === before.revision
  await untilTrue(isTold, 'the watcher has the newest state').catch(() => {})
  await watcher.stop()

  const kept = await keptBy(world)
  const arrivals = world.arrivals.map(({ id, data }) => ({ id, sid: String(data['sid']) }))
  const { signIns, probes } = load.figures()
  return {
    findings: findings({
      changes: load.changes,
      signedIn: load.signedIn(),
      kept,
      revisionBefore,
      told: watcher.told,
      letIn: load.letIn,
      shutOut: [...load.shutOut],
      arrivals,
    }),
    failed: load.failed,
    figures: {
      kills,
      'changes acknowledged': load.count('acknowledged'),
      'changes refused': load.count('refused'),
      'answers lost': load.count('lost'),
      'sign-ins': signIns,
      'sessions revoked': kept.revoked.length,
      'requests with their cookies': probes,
      'webhook arrivals': arrivals.length,
      'revisions taken': kept.revision - revisionBefore,
      'links of the watcher': watcher.figures().links,
      'full loads among them': watcher.figures().full,
    },
  }
}

interface Fault {
  readonly what: string
  /** Whether there was something to strike. */
  strike(pick: number): boolean | Promise<boolean>
}

async function struck(faults: readonly Fault[], random: () => number): Promise<string> {
  for (;;) {
    const fault = faults[Math.floor(random() * faults.length)]!
    // a database that is coming back refuses to say whose connections there are
    const isStruck = await Promise.resolve(fault.strike(random())).catch(() => false)
    if (isStruck) return fault.what
    await sleep(MOMENT_MAX_MS)
  }
}

/** Whoever is listed more often is killed more often. */
function faultsOf(world: World, nodes: number): Fault[] {
  const program = (name: string): Fault => ({ what: name, strike: () => world.killProgram(name) })
  const controlPlanes = Array.from({ length: nodes }, (_, at) => program(`node-${at}`))
  const gateways = world.gateways.map(({ name }) => program(name))
  if (world.kind === 'sqlite')
    return [...controlPlanes, ...controlPlanes, ...controlPlanes, ...gateways.slice(0, 1)]
  const terminated: Fault = {
    what: 'a connection of the database',
    strike: (pick) => world.killBackend(pick, false),
  }
  const backend: Fault = {
    what: 'a process of the database',
    strike: (pick) => world.killBackend(pick, true),
  }
  const database: Fault = { what: 'the database', strike: () => world.killDatabase() }
  return [...controlPlanes, ...gateways.slice(0, 1), terminated, terminated, backend, database]
}

async function revisionOf(world: World): Promise<number> {
  const [row] = await world.query(`SELECT value FROM counters WHERE name = 'revision'`)
  return Number(row?.['value'])
}

async function keptBy(world: World): Promise<Kept> {
  const column = async (sql: string) =>
    (await world.query(sql)).map((row) => String(Object.values(row)[0]))
  const ofTenant = `tenant_id = '${TENANT}'`
  const users = await world.query(`SELECT user_id, username FROM users WHERE ${ofTenant}`)
  const usernames = new Map(users.map((row) => [row['user_id'], String(row['username'])]))
  const entries = await world.query(
    `SELECT action, content FROM audit WHERE ${ofTenant} ORDER BY sequence`,
  )
  const audit: Record<Kind, string[]> = { rename: [], user: [], revocation: [] }
  for (const { action, content } of entries) {
    const said = (typeof content === 'string' ? JSON.parse(content) : content) as {
      to?: { name?: string }
      user_id?: string
      sid?: string
    }
    if (action === 'tenant.changed' && said.to?.name !== undefined) audit.rename.push(said.to.name)
    if (action === 'user.created')
      audit.user.push(usernames.get(said.user_id) ?? `without a row: ${said.user_id}`)
    if (action === 'sessions.revoked') audit.revocation.push(String(said.sid))
  }
  const events = await world.query(
    `SELECT content FROM outbox WHERE ${ofTenant} AND event = 'session.revoked' ORDER BY sequence`,
  )
  const [tenant] = await world.query(`SELECT name FROM tenants WHERE ${ofTenant}`)
  return {
    audit,
    users: [...usernames.values()],
    sessions: await column(`SELECT sid FROM sessions WHERE ${ofTenant}`),
    revoked: await column(`SELECT target FROM revocations WHERE ${ofTenant} AND kind = 'sid'`),
    events: events.map(({ content }) => {
      const said = (typeof content === 'string' ? JSON.parse(content) : content) as { sid?: string }
      return String(said.sid)
    }),
    name: String(tenant?.['name']),
    revision: await revisionOf(world),
  }
}

/** Mulberry32: the same seed strikes the same programs behind the same numbers of answers. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
