/** What random kills do not bring about: one thing goes wrong in one way, for as long as it takes. */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { CLOCKS } from './clocks.ts'
import { beginRun, keptBy, type FaultReport } from './judged.ts'
import { UNWRITABLE } from './unwritable.ts'
import { startWatcher } from './watcher.ts'
import { startWorld, TENANT, untilTrue, type Teardown, type World } from './world.ts'

export interface CaseOptions {
  /** For how long the database is away, or held. */
  readonly seconds: number
  readonly gateways: number
}

export const CASES = {
  cut: cutFromTheDatabase,
  held: heldRevision,
  herd: manyGateways,
  late: lateReplica,
  ...UNWRITABLE,
  ...CLOCKS,
} as const satisfies Record<string, (t: Teardown, options: CaseOptions) => Promise<FaultReport>>

export type Case = keyof typeof CASES

const NODES = 3
const LAST = NODES - 1
const OK = 200
const BUSY = 503
/** A change gives up on a lock within two seconds; the rest is the way there and back. */
const REFUSED_MS = 4000
const PROBE_MS = 250
/** On a slow machine nobody has got round to a change by then. */
const IDLE_MS_MAX = 60_000
const SIGN_INS = 4
const RELINKED_MS = 30_000
const ESTABLISHED = '01'

/** Nothing comes through between one control plane and the database, and nobody is told. */
async function cutFromTheDatabase(t: Teardown, { seconds }: CaseOptions): Promise<FaultReport> {
  const world = await startWorld(t, 'postgres', NODES, { isCuttable: true })
  const { load, judge } = await beginRun(t, world, () => {})
  const pid = world.pidOf(LAST)
  await untilTrue(async () => load.figures().signIns >= SIGN_INS, 'people who are signed in')

  const cutMs = performance.now()
  world.cut()
  await untilTrue(async () => (await world.ready(LAST)).status !== OK, 'one that knows it is cut')
  const knownMs = performance.now() - cutMs
  const isElsewhere = async () => linksAt(world, LAST) === 0
  await untilTrue(isElsewhere, 'gateways that are at others')
  const elsewhereMs = performance.now() - cutMs
  const before = load.count('acknowledged')
  const stale: string[] = []
  let refusals = 0
  const isOver = () => {
    const elapsedMs = performance.now() - cutMs
    const isIdle = load.count('acknowledged') === before && elapsedMs < IDLE_MS_MAX
    return elapsedMs >= seconds * 1000 && !isIdle
  }
  while (!isOver()) {
    // what it answers from memory may be over by now, and it cannot know
    const answer = await world.operatorAt(LAST, 'GET', `/tenants/${TENANT}`).catch(() => undefined)
    if (answer === undefined || answer.status >= 500) refusals += 1
    else stale.push(`the one that is cut off answered ${answer.status}`)
    if ((await world.ready(LAST)).status === OK) stale.push('the one that is cut off is ready')
    await sleep(PROBE_MS)
  }
  const meanwhile = load.count('acknowledged') - before

  const mendedMs = performance.now()
  world.mend()
  await untilTrue(async () => (await world.ready(LAST)).status === OK, 'one that is ready again')
  const readyMs = performance.now() - mendedMs
  await load.stop()
  const [row] = await world.query(`SELECT name FROM tenants WHERE tenant_id = '${TENANT}'`)
  const isSame = async () => {
    const { body } = await world.operatorAt(LAST, 'GET', `/tenants/${TENANT}`)
    return body['name'] === row?.['name']
  }
  await untilTrue(isSame, 'the newest name at the one that was cut off')
  return judge(
    {
      'ms until it said that it is not ready': Math.round(knownMs),
      'ms until no gateway was at it': Math.round(elsewhereMs),
      'changes acknowledged meanwhile': meanwhile,
      'questions that it refused': refusals,
      'ms until it was ready again': Math.round(readyMs),
    },
    [
      ...new Set(stale),
      ...(world.pidOf(LAST) === pid ? [] : ['the one that was cut off had to begin anew']),
      ...(meanwhile > 0 ? [] : ['nobody else could change anything meanwhile']),
    ],
  )
}

/** Somebody holds the row of the revision, and neither goes on nor goes away. */
async function heldRevision(t: Teardown, { seconds }: CaseOptions): Promise<FaultReport> {
  const world = await startWorld(t, 'postgres', NODES)
  const { load, judge } = await beginRun(t, world, () => {})
  await untilTrue(async () => load.count('acknowledged') > 0, 'a first change')
  const holder = new pg.Client({ connectionString: world.database })
  await holder.connect()
  t.teardown(() => holder.end())
  await holder.query('BEGIN')
  await holder.query(`SELECT value FROM counters WHERE name = 'revision' FOR UPDATE`)

  const heldMs = performance.now()
  const found: string[] = []
  const waitsMs: number[] = []
  for (let turn = 0; performance.now() - heldMs < seconds * 1000; turn++) {
    const askedMs = performance.now()
    const at = turn % NODES
    // not a name that the load gives: of this change nothing may be left
    const plan = { idle_seconds: 3601 + turn }
    const answer = await world.operatorAt(at, 'PATCH', `/tenants/${TENANT}`, plan)
    const tookMs = performance.now() - askedMs
    waitsMs.push(tookMs)
    if (answer.status !== BUSY || answer.retryAfter === undefined)
      found.push(`a change met ${answer.status}, Retry-After ${String(answer.retryAfter)}`)
  }
  const before = load.count('acknowledged')
  const freedMs = performance.now()
  await holder.query('ROLLBACK')
  await untilTrue(async () => load.count('acknowledged') > before, 'a change that goes through')
  const againMs = performance.now() - freedMs
  return judge(
    {
      'changes refused with 503': waitsMs.length,
      'ms until a refusal, at most': Math.round(Math.max(...waitsMs)),
      'ms until changes went through again': Math.round(againMs),
    },
    [...new Set(found)],
    Math.max(...waitsMs) > REFUSED_MS ? ['a change waited for more than its two seconds'] : [],
  )
}

/** So many gateways, and one of three control planes is killed. */
async function manyGateways(t: Teardown, { gateways }: CaseOptions): Promise<FaultReport> {
  const world = await startWorld(t, 'postgres', NODES)
  const { judge } = await beginRun(t, world, () => {})
  const { fleetPorts } = world
  const herd = Array.from({ length: gateways }, (_, at) => {
    const first = at % NODES
    const ports = [...fleetPorts.slice(first), ...fleetPorts.slice(0, first)]
    return startWatcher(ports, `herd-${at}`)
  })
  t.teardown(() => Promise.all(herd.map(({ stop }) => stop())))
  const areLinked = async () => herd.every(({ figures }) => figures().synced > 0)
  await untilTrue(areLinked, 'links of all')

  const lost = herd.filter((_, at) => at % NODES === LAST)
  const before = lost.map(({ figures }) => figures().synced)
  const killedMs = performance.now()
  world.killProgram(`node-${LAST}`)
  const backMs: number[] = lost.map(() => Infinity)
  const areBack = async () => {
    for (const [at, { figures }] of lost.entries())
      if (backMs[at] === Infinity && figures().links > 1 && figures().synced > (before[at] ?? 0))
        backMs[at] = performance.now() - killedMs
    return backMs.every((ms) => ms !== Infinity)
  }
  await untilTrue(areBack, 'links of all that had one to it').catch(() => {})
  const ordered = backMs.toSorted((left, right) => left - right)
  const percentile = ordered[Math.ceil(ordered.length * 0.99) - 1] ?? 0
  const again = herd.reduce((sum, { figures }) => sum + figures().full - 1, 0)
  return judge(
    {
      'links that were lost': lost.length,
      'ms until 99 % of them were back': Math.round(percentile),
      'full loads of gateways': again,
    },
    [
      ...(again > 0 ? [`${again} gateways loaded everything once more`] : []),
      ...(percentile === Infinity ? ['not all gateways came back'] : []),
    ],
    percentile > RELINKED_MS ? ['99 % were not back in thirty seconds'] : [],
  )
}

/** A replica takes over that has not heard of the last changes: they are lost, and one kind may not be. */
async function lateReplica(t: Teardown): Promise<FaultReport> {
  const world = await startWorld(t, 'postgres', NODES, { hasReplica: true })
  const { load, watcher } = await beginRun(t, world, () => {})
  await untilTrue(async () => load.figures().signIns >= SIGN_INS, 'people who are signed in')
  const epoch = () =>
    world.query(`SELECT value FROM facts WHERE name = 'epoch'`).then(([row]) => row?.['value'])
  const epochBefore = await epoch()
  world.stopReplication()
  const since = load.changes.length
  const ended = () =>
    load.changes
      .filter(({ kind, outcome }) => kind === 'revocation' && outcome === 'acknowledged')
      .map(({ key }) => key)
  const before = ended().length
  await untilTrue(async () => ended().length >= before + SIGN_INS, 'revocations that will be lost')
  const losing = load.changes.slice(since).filter(({ outcome }) => outcome === 'acknowledged')

  const killedMs = performance.now()
  await world.failOver()
  const acknowledged = load.count('acknowledged')
  await untilTrue(async () => load.count('acknowledged') > acknowledged, 'changes that go through')
  const againMs = performance.now() - killedMs
  await untilTrue(async () => (await epoch()) !== epochBefore, 'a new epoch')
  const epochMs = performance.now() - killedMs
  await load.stop()
  await world.settled()
  const revoked = ended()
  await load.lastProbe(new Set(revoked))
  const isHandedUp = async () => {
    const kept = new Set((await keptBy(world)).revoked)
    return revoked.every((sid) => kept.has(sid))
  }
  await untilTrue(isHandedUp, 'revocations that gateways have handed up').catch(() => {})
  const kept = await keptBy(world)
  const isTold = async () => watcher.has.revision === kept.revision
  await untilTrue(isTold, 'the watcher has the newest state').catch(() => {})
  const names = new Set(kept.audit.rename)
  const missing = revoked.filter((sid) => !kept.revoked.includes(sid))
  return {
    figures: {
      'changes acknowledged that the replica had not heard of': losing.length,
      'renames among them that are lost': losing.filter(
        ({ kind, key }) => kind === 'rename' && !names.has(key),
      ).length,
      'ms until changes went through again': Math.round(againMs),
      'ms until a new epoch': Math.round(epochMs),
      'sessions revoked': revoked.length,
      'requests with their cookies': load.figures().probes,
      'full loads of the watcher': watcher.figures().full,
    },
    failed: load.failed,
    slow: [],
    findings: [
      ...load.letIn.map(({ sid, gateway }) => `${gateway} let in ${sid}, which is revoked`),
      ...missing.map((sid) => `the database does not know that ${sid} is revoked`),
      ...(watcher.has.revision === kept.revision ? [] : ['a gateway has not got the newest state']),
    ],
  }
}

/** Links that stand, as the kernel tells it: whoever is cut off may say anything. */
function linksAt({ fleetPorts }: World, node: number): number {
  const port = (fleetPorts[node] ?? 0).toString(16).toUpperCase().padStart(4, '0')
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(`:${port}`) && state === ESTABLISHED).length
}
