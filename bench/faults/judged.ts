/** Load on a service, and the verdict on what is left of it once everything is back. */
import { findings, type Kept, type Kind } from './history.ts'
import { startLoad } from './load.ts'
import { startWatcher } from './watcher.ts'
import { TENANT, untilTrue, type Teardown, type World } from './world.ts'

export interface FaultReport {
  readonly findings: readonly string[]
  /** What took longer than it may; how loaded the machine was is for the reader to judge. */
  readonly slow: readonly string[]
  readonly figures: Readonly<Record<string, number>>
  /** What clients met beside answers, and how often. */
  readonly failed: ReadonlyMap<string, number>
}

export async function beginRun(t: Teardown, world: World, onAnswer: () => void) {
  await world.settled()
  const revisionBefore = await revisionOf(world)
  const watcher = startWatcher(world.fleetPorts)
  t.teardown(() => watcher.stop())
  const load = startLoad(world, onAnswer)
  t.teardown(() => load.stop())

  /**
   * Lets everything come back first. `found` is what was seen on the way. Whoever is asked to sign in
   * again has lost nothing that was acknowledged, but time.
   */
  async function judge(
    figures: FaultReport['figures'],
    found: readonly string[] = [],
    slow: readonly string[] = [],
    { isAskedAgainFine = false } = {},
  ): Promise<FaultReport> {
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
    const history = {
      changes: load.changes,
      signedIn: load.signedIn(),
      kept,
      revisionBefore,
      told: watcher.told,
      letIn: load.letIn,
      shutOut: isAskedAgainFine ? [] : [...load.shutOut],
      arrivals,
    }
    return {
      findings: [...found, ...findings(history)],
      slow,
      failed: load.failed,
      figures: {
        ...figures,
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

  return { load, judge, watcher }
}

async function revisionOf(world: World): Promise<number> {
  const [row] = await world.query(`SELECT value FROM counters WHERE name = 'revision'`)
  return Number(row?.['value'])
}

export async function keptBy(world: World): Promise<Kept> {
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
