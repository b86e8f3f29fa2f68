import t from 'tap'
import { createEnforcement, type OwnEvent } from '../../../control-plane/events/enforcement.ts'
import type { Store } from '../../../control-plane/store/store.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { REFUSE_REASONS, SIGN_IN_REASONS } from '../../../shared/reasons.ts'
import type { EnforcementEvent } from '../../../shared/fleet/snapshot.ts'
import { ACTOR, movableClock, startServices, tenantNamed } from '../../support/control-plane.ts'
import { startFeedApi } from '../../support/feed-api.ts'

async function startReports(t: Parameters<typeof startServices>[0]) {
  const clock = movableClock()
  const services = await startServices(t, { clock })
  await services.tenants.create(tenantNamed('acme'), ACTOR)
  for (const sid of ['s1', 's2'])
    await services.sessions.record({
      tenantId: 'acme',
      sid,
      userId: 'ada',
      ip: '192.0.2.1',
      userAgent: 'test',
      issuedAtMs: clock.nowMs(),
      expiresAtMs: clock.nowMs() + 3_600_000,
    })
  const { enforcement } = services
  const receive = (events: EnforcementEvent[]) => enforcement.receive('gateway-1', events)
  const report = (outcome: string, changes: Partial<EnforcementEvent> = {}) =>
    receive([
      { tenant_id: 'acme', outcome, sid: 's1', subject: 'ada', ip: '192.0.2.1', ...changes },
    ])
  const events = async () =>
    (await services.store.read.select().from(schema.outbox)).map(({ event, content }) => ({
      event,
      content,
    }))
  return { ...services, clock, report, events, receive }
}

void t.test('what a middleware says of machines is a figure and no event', async (t) => {
  const { machines, enforcement, clock, store } = await startReports(t)
  const { serviceId } = await machines.create('acme', 'CI', ACTOR)
  const { secretId } = await machines.addSecret('acme', serviceId, 86_400, ACTOR)
  const used = { outcome: 'forwarded', reason: 'machine', subject: serviceId, sid: secretId }
  await enforcement.take('acme', 'app-1', [
    { ...used, ip: '192.0.2.7', count: 5 },
    { ...used, count: 2 },
    { outcome: 'refused', reason: 'machine_unknown', ip: '192.0.2.8', count: 3 },
    { outcome: 'forwarded', subject: 'ada', reason: 'session' },
  ])
  const seen = { seenAt: clock.nowMs(), seenIp: '192.0.2.7', requests: 7 }
  t.match(await machines.one('acme', serviceId), seen)
  const told = await enforcement.list('acme', { limit: 10 })
  t.same(told.items.map(({ outcome, reason, count }) => [outcome, reason, count]).sort(), [
    ['forwarded', 'session', 1],
    ['refused', 'machine_unknown', 3],
  ])
  const counted = (await store.read.select().from(schema.figures))
    .filter(({ step }) => step === 'minute')
    .map(({ source, outcome, reason, count }) => `${source} ${outcome} ${reason} ${count}`)
  t.same(counted.sort(), [
    'application forwarded machine 7',
    'application forwarded session 1',
    'application refused machine_unknown 3',
  ])
})

void t.test('of very many kinds that an application reports few are told apart', async (t) => {
  const { enforcement, store, clock } = await startReports(t)
  const reasons = [...SIGN_IN_REASONS, ...REFUSE_REASONS]
  const all = ['refused', 'sign_in', 'sealed', 'terminate', 'step_up', 'forwarded'].flatMap(
    (outcome) => reasons.map((reason) => ({ outcome, reason })),
  )
  t.ok(all.length > 2 * LIMITS.figureKindsPerHourMax)
  const rows = async () => {
    await enforcement.take('acme', 'web-1', all)
    const figures = await store.read.select().from(schema.figures)
    const last = Math.max(...figures.filter(({ step }) => step === 'minute').map(({ at }) => at))
    return figures.filter(({ step, at }) => step === 'minute' && at === last)
  }
  for (const name of ['first', 'next']) {
    const own = await rows()
    t.ok(own.length <= LIMITS.figureKindsPerHourMax + 6, name)
    t.equal(
      own.reduce((sum, { count }) => sum + count, 0),
      all.length,
      'and none is lost',
    )
    clock.advance(3_600_000)
  }
})

void t.test(
  'a thousand reports are so many changes that others have their turn between them',
  async (t) => {
    const { enforcement, machines, store } = await startReports(t)
    const { serviceId } = await machines.create('acme', 'CI', ACTOR)
    const { secretId } = await machines.addSecret('acme', serviceId, 86_400, ACTOR)
    const use = { outcome: 'forwarded', reason: 'machine', subject: serviceId, sid: secretId }
    const alike = (event: OwnEvent) => Array.from({ length: 1000 }, () => event)
    let changes = 0
    store.onCommit(() => void changes++)
    for (const events of [alike(use), alike({ outcome: 'step_up', subject: 'ada' })]) {
      changes = 0
      await enforcement.take('acme', 'app-1', events)
      const least = events.length / LIMITS.sessionsEndedPerChangeMax
      t.ok(changes >= least, `${changes} for what is ${events[0]?.outcome}`)
    }
    t.match(await machines.one('acme', serviceId), { requests: 1000 })
    const counted = (await store.read.select().from(schema.figures))
      .filter(({ step }) => step === 'minute')
      .map(({ outcome, reason, count }) => `${outcome} ${reason} ${count}`)
    t.same(counted.sort(), ['forwarded machine 1000', 'step_up  1000'])
  },
)

/** How many changes are asked for, and how many of them wait for the writer at the same time. */
function watched(store: Store) {
  const seen = { asked: 0, waiting: 0, most: 0 }
  const change: Store['change'] = async (work) => {
    seen.asked++
    seen.most = Math.max(seen.most, ++seen.waiting)
    return store.change(async (change) => {
      const result = await work(change)
      seen.waiting--
      return result
    })
  }
  return { seen, store: { ...store, change } }
}

void t.test('many batches at once are one in the line of all that is written', async (t) => {
  const { store, clock } = await startReports(t)
  const { seen, store: counting } = watched(store)
  const enforcement = createEnforcement({ store: counting, clock })
  const batch = (at: number) =>
    Array.from({ length: 120 }, (_, one) => ({ outcome: 'terminate', subject: `${at} ${one}` }))
  const sent = [0, 1, 2, 3].map((at) => enforcement.take('acme', 'app-1', batch(at)))
  await Promise.all([...sent, enforcement.take('acme', 'app-2', [{ outcome: 'sealed' }])])
  t.equal(seen.asked, 4 * 3 + 1)
  t.equal(seen.most, 1)
})

void t.test('what is not told of leaves nothing behind, whoever it names', async (t) => {
  const { enforcement, store } = await startReports(t)
  const many = LIMITS.rateTold.burst + 50
  const batch = Array.from({ length: many }, (_, at) => ({ outcome: 'step_up', subject: `${at}` }))
  await enforcement.take('acme', 'app-1', batch)
  const rates = await store.read.select().from(schema.rates)
  const named = rates.filter(({ kind }) => kind === 'told step_up')
  t.equal(named.length, LIMITS.rateTold.burst)
})

void t.test('a thousand reports of a gateway are some in each change', async (t) => {
  const { store, clock } = await startReports(t)
  const { seen, store: counting } = watched(store)
  const enforcement = createEnforcement({ store: counting, clock })
  const told = { tenant_id: 'acme', outcome: 'step_up', ip: '192.0.2.1' }
  const events = Array.from({ length: 1000 }, (_, at) => ({ ...told, subject: `${at}` }))
  await enforcement.receive('gateway-1', events)
  t.equal(seen.asked, 20)
  t.equal((await store.read.select().from(schema.enforcementEvents)).length, 1000)
})

void t.test('nor has a gateway that reports a thousand all turns for itself', async (t) => {
  const { clock, enforcement, receive, sessions, store } = await startReports(t)
  const count = 200
  const sids = Array.from({ length: count }, (_, at) => `many-${at}`)
  for (const sid of sids)
    await sessions.record({
      tenantId: 'acme',
      sid,
      userId: 'ada',
      ip: '192.0.2.1',
      userAgent: 'test',
      issuedAtMs: clock.nowMs(),
      expiresAtMs: clock.nowMs() + 3_600_000,
    })
  const isEnded = async () =>
    (await store.read.select().from(schema.revocations)).filter(({ target }) =>
      sids.includes(target),
    ).length
  const found: number[] = []
  let isOver = false
  const look = async () => {
    while (!isOver) {
      const ended = await isEnded()
      if (ended > 0 && ended !== found.at(-1)) found.push(ended)
      await new Promise(setImmediate)
    }
  }
  const looking = look()
  const about = { tenant_id: 'acme', subject: 'ada', ip: '192.0.2.1' }
  await receive(sids.map((sid) => ({ ...about, outcome: 'logout', sid })))
  isOver = true
  await looking
  t.ok(found.length > 2, `${found.join(', ')}: others look between some and the next`)
  t.ok(
    found.every((ended) => ended % 50 === 0),
    'fifty in a change',
  )
  t.equal(await isEnded(), count)
  const { items } = await enforcement.list('acme', { limit: 500 })
  t.equal(items.length, count)
})

void t.test('who signs out at one gateway is signed out at all of them', async (t) => {
  const { report, events, revocations, sessions, store } = await startReports(t)
  const told: unknown[] = []
  store.onCommit(({ revoked }) => told.push(...revoked.keys()))
  await report('logout')
  t.ok(Object.hasOwn((await revocations.revokedState('acme')).sids, 's1'))
  t.match(await sessions.find('acme', 's1'), { endReason: 'signed_out' })
  t.equal((await sessions.find('acme', 's2'))?.endedAt, null)
  t.strictSame(told, ['acme'], 'the gateways are told')
  t.strictSame(await events(), [], 'a sign-out is no security event')
})

void t.test('a sign-out holds for a token that was issued by a clock ahead', async (t) => {
  const { report, revocations, clock, store } = await startReports(t)
  const now = Math.floor(clock.nowMs() / 1000)
  const notBefore = async () => (await revocations.revokedState('acme')).sids['s1']
  await revocations.end('acme', 's1', ACTOR, 'signed_out')
  t.equal(await notBefore(), now + 1)
  let commits = 0
  store.onCommit(({ revoked }) => void (commits += revoked.size))
  for (let times = 0; times < 2; times++) await report('logout', { issued_at: now + 30 })
  t.equal(await notBefore(), now + 31, 'though the realm has ended it already')
  t.equal(commits, 1, 'and once')
  await report('logout')
  await report('logout', { issued_at: now })
  t.equal(await notBefore(), now + 31)
  await report('terminate', { issued_at: now + 1e9 })
  const latest = now + LIMITS.issuedAheadSecondsMax
  t.equal(await notBefore(), latest + 1, 'no gateway lets in what is further ahead')
})

void t.test('what a gateway saw of a former tenant is not its namesake’s', async (t) => {
  const { tenants, enforcement, receive, events, revocations } = await startReports(t)
  const revisionOf = async () => (await tenants.find('acme'))!.revision
  const seen = (sid: string, revision?: number) => ({
    ...{ tenant_id: 'acme', outcome: 'terminate', sid, subject: 'ada', ip: '192.0.2.1' },
    ...(revision !== undefined && { revision }),
  })
  const kept = async () => (await enforcement.list('acme', { limit: 10 })).items
  const before = await revisionOf()
  await tenants.remove('acme', ACTOR)
  await tenants.create(tenantNamed('acme'), ACTOR)
  await receive([seen('s1', before), { ...seen('s1', before), outcome: 'step_up' }])
  t.same(await kept(), [])
  t.same(await events(), [])
  t.same((await revocations.revokedState('acme')).sids, {})
  await receive([seen('s3', before), seen('s4', await revisionOf()), seen('s5')])
  t.same((await kept()).map(({ sid }) => sid).toSorted(), ['s4', 's5'], 'its own are')
})

void t.test('a session that its binding has ended is dead everywhere, and an event', async (t) => {
  const { report, events, revocations } = await startReports(t)
  await report('terminate', { reason: 'network_changed', app_host: 'acme.localhost' })
  t.ok(Object.hasOwn((await revocations.revokedState('acme')).sids, 's1'))
  t.strictSame(await events(), [
    {
      event: 'session.terminated',
      content: {
        sid: 's1',
        subject: 'ada',
        ip: '192.0.2.1',
        reason: 'network_changed',
        app_host: 'acme.localhost',
      },
    },
  ])
})

void t.test('a batch that comes twice, or names nobody, does no harm', async (t) => {
  const { report, events, receive, sessions, revocations } = await startReports(t)
  await report('logout')
  const { endedAt } = (await sessions.find('acme', 's1')) ?? {}
  await report('logout')
  t.equal((await sessions.find('acme', 's1'))?.endedAt, endedAt)
  await report('logout', { tenant_id: 'none' })
  await receive([{ tenant_id: 'acme', outcome: 'logout' }])
  await report('sealed')
  await receive([])
  t.strictSame(await revocations.revokedState('none'), { all: 0, subjects: {}, sids: {} })
  t.strictSame(await events(), [])
})

void t.test(
  'a gateway that reports too much is heeded, and only what ended a session is written down',
  async (t) => {
    const { receive, enforcement, sessions } = await startReports(t)
    const most = LIMITS.rateRefusals.burst
    const sealed = { tenant_id: 'acme', outcome: 'sealed' }
    for (let sent = 0; sent < most; sent += 1000)
      await receive(Array.from({ length: 1000 }, () => sealed))
    await receive([sealed, { tenant_id: 'acme', outcome: 'logout', sid: 's1' }])
    t.match(await sessions.find('acme', 's1'), { endReason: 'signed_out' })
    const { items } = await enforcement.list('acme', { limit: 2 })
    t.match(items, [
      { sequence: most + 1, outcome: 'logout', instance: 'gateway-1' },
      { sequence: most, outcome: 'sealed', instance: 'gateway-1' },
    ])
  },
)

void t.test(
  'the oldest at sealed paths make room among themselves, and all go in time',
  async (t) => {
    const api = await startFeedApi(t)
    await api.sdkTenant('acme')
    const { enforcement } = api.services
    const sealed = { outcome: 'sealed' }
    const most = LIMITS.sealedEventsPerTenantMax
    const batch = Array.from({ length: LIMITS.eventsPerBatchMax }, () => sealed)
    for (let sent = 0; sent < most; sent += batch.length) {
      await enforcement.take('acme', 'web-1', batch)
      api.clock.advance((batch.length / LIMITS.rateEnforcementEvents.perSecond) * 1000)
    }
    const oldest = async () => {
      const rows = api.services.store.read.select().from(schema.enforcementEvents)
      return (await rows.orderBy(schema.enforcementEvents.sequence).limit(1))[0]?.sequence
    }
    t.equal(await oldest(), 1)
    const ends = [{ outcome: 'logout' }, ...batch.slice(1)]
    await enforcement.take('acme', 'web-1', ends)
    t.equal(await oldest(), batch.length)
    for (let sent = 0; sent < most; sent += batch.length) {
      await enforcement.take('acme', 'web-1', batch)
      api.clock.advance((batch.length / LIMITS.rateEnforcementEvents.perSecond) * 1000)
    }
    t.equal(await oldest(), most + 1, 'the sign-out from before the flood is there')
    await enforcement.take('acme', 'web-1', [sealed])
    const last = 2 * most + batch.length + 1

    api.clock.advance(LIMITS.enforcementEventKeptMs)
    t.equal(await enforcement.prune(500), 500)
    while ((await enforcement.prune(5000)) > 0);
    t.equal(await oldest(), last, 'what is as old as that to the millisecond stays')
    api.clock.advance(1)
    t.equal(await enforcement.prune(500), 1)
  },
)

void t.test(
  'a refusal keeps its path and its time, as far as a gateway can be believed',
  async (t) => {
    const { receive, enforcement, clock } = await startReports(t)
    const now = Math.floor(clock.nowMs() / 1000)
    const refused = { tenant_id: 'acme', outcome: 'sealed', path: '/admin', count: 3 }
    await receive([
      { ...refused, at: now - 60 },
      { ...refused, at: now + 3600 },
      { ...refused, at: 1 },
      { ...refused, path: '/x'.repeat(LIMITS.refusedPathCharactersMax) },
    ])
    const { items } = await enforcement.list('acme', { limit: 10 })
    t.match(items, [
      { path: '/x'.repeat(LIMITS.refusedPathCharactersMax / 2), at: clock.nowMs() },
      { at: clock.nowMs() - LIMITS.enforcementEventKeptMs },
      { at: clock.nowMs() },
      { path: '/admin', count: 3, at: (now - 60) * 1000 },
    ])
  },
)

void t.test('refusals push out nothing else, however many gateways tell of them', async (t) => {
  const { receive, enforcement } = await startReports(t)
  const refusals = Array.from({ length: LIMITS.rateRefusals.burst }, () => ({
    ...{ tenant_id: 'acme', outcome: 'refused', path: '/%zz' },
  }))
  await receive(refusals)
  await receive(refusals)
  await receive([{ tenant_id: 'acme', outcome: 'step_up', sid: 's1' }])
  const { items } = await enforcement.list('acme', { limit: 2 })
  t.match(items, [{ outcome: 'step_up', sequence: LIMITS.rateRefusals.burst + 1 }])
  t.ok(LIMITS.refusedEventsPerTenantMax < LIMITS.enforcementEventsPerTenantMax)
})
