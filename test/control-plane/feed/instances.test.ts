import { join } from 'node:path'
import t from 'tap'
import { count, eq } from '../../../control-plane/store/drizzle.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { DAY_MS, MINUTE_MS } from '../../../shared/clock.ts'
import {
  ACTOR,
  movableClock,
  startServices,
  temporaryFolder,
  tenantNamed,
} from '../../support/control-plane.ts'
import { etagOf, startFeedApi } from '../../support/feed-api.ts'

const poll = (name: string) => ({ name, version: '1.0.0', clockOffsetMs: null })

async function startSdk(
  t: Parameters<typeof startServices>[0],
  options: Parameters<typeof startServices>[1] = {},
) {
  const clock = movableClock()
  const services = await startServices(t, { clock, ...options })
  return { ...services, clock: (options.clock as typeof clock | undefined) ?? clock }
}

async function written(
  { store }: Pick<Awaited<ReturnType<typeof startSdk>>, 'store'>,
  tenantId: string,
) {
  const table = schema.feedInstances
  const [row] = await store.read
    .select({ rows: count() })
    .from(table)
    .where(eq(table.tenantId, tenantId))
  return row?.rows
}

void t.test(
  'the operator sees who polls, with which version and clock, and who is behind',
  async (t) => {
    const { sdkTenant, poll, operator, clock } = await startFeedApi(t)
    await sdkTenant('acme')
    await sdkTenant('other')
    await poll('acme', {
      'x-service-instance': 'web-1',
      'x-service-sdk-version': '0.9.0',
      'x-service-clock-offset': '-1500',
    })
    clock.advance(1000)
    await operator('PATCH', '/tenants/acme', { sealed: ['/x'] })
    await poll('acme', { 'x-service-instance': 'web-2' })
    await poll('acme')
    await poll('acme', { 'x-service-instance': '<img src=x>' })
    const { items } = await operator('GET', '/tenants/acme/instances')
    const later = '2026-01-01T00:00:01.500Z'
    t.strictSame(items, [
      { name: '', version: '', last_poll_at: later, up_to_date: true, clock_offset_ms: null },
      {
        name: 'web-1',
        version: '0.9.0',
        last_poll_at: '2026-01-01T00:00:00.500Z',
        up_to_date: false,
        clock_offset_ms: -1500,
      },
      { name: 'web-2', version: '', last_poll_at: later, up_to_date: true, clock_offset_ms: null },
    ])
    t.strictSame((await operator('GET', '/tenants/other/instances')).items, [])
    t.equal((await operator('GET', '/tenants/none/instances')).status, 404)

    await poll('acme', { 'x-service-instance': 'web-1', 'x-service-sdk-version': '1.0.0' })
    const { items: after } = await operator('GET', '/tenants/acme/instances')
    t.match(after[1], { name: 'web-1', version: '1.0.0', up_to_date: true, clock_offset_ms: null })
  },
)

void t.test('who has the state already is up to date as well', async (t) => {
  const { sdkTenant, poll, operator } = await startFeedApi(t)
  await sdkTenant('acme')
  const etag = etagOf(await poll('acme'))
  await poll('acme', { 'x-service-instance': 'web-1', 'if-none-match': etag })
  t.match((await operator('GET', '/tenants/acme/instances')).items[1], {
    name: 'web-1',
    up_to_date: true,
  })
})

void t.test('instances are listed by name, over pages', async (t) => {
  const { sdkTenant, operator, services } = await startFeedApi(t)
  await sdkTenant('acme')
  for (const name of ['c', 'a', '', 'b', 'd']) services.instances.polled('acme', poll(name), 'x')
  const names: unknown[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const page = await operator(
      'GET',
      `/tenants/acme/instances?limit=2${cursor && `&cursor=${cursor}`}`,
    )
    names.push(...page.items.map(({ name }) => name))
    cursor = page.next
  }
  t.strictSame(names, ['', 'a', 'b', 'c', 'd'])
  t.equal((await operator('GET', '/tenants/acme/instances?cursor=x')).status, 400)
})

void t.test('a restart knows the instances again, and how many were polling', async (t) => {
  const file = join(temporaryFolder(t), 'service.db')
  const clock = movableClock()
  const masterKey = Buffer.alloc(32, 1)
  const before = await startServices(t, { file, clock, masterKey })
  await before.tenants.create(tenantNamed('acme', { mode: 'sdk' }), ACTOR)
  for (let index = 0; index <= LIMITS.feedPollsPerSecondMax; index++)
    before.instances.polled('acme', poll(`web-${index}`), 'state')
  t.equal(before.instances.pollSeconds('acme'), 2)
  const seen = await before.instances.of('acme')
  await before.instances.write()

  clock.advance(60 * MINUTE_MS)
  const after = await startServices(t, { file, clock, masterKey })
  t.strictSame(await after.instances.of('acme'), seen)
  t.equal(
    after.instances.pollSeconds('acme'),
    2,
    'an hour away does not make it a crowd of newcomers',
  )
  clock.advance(89_000)
  after.instances.polled('acme', poll('web-0'), 'state')
  t.equal(after.instances.pollSeconds('acme'), 2, 'they have their time to come back')
  clock.advance(2000)
  after.instances.polled('acme', poll('web-0'), 'state')
  t.equal(after.instances.pollSeconds('acme'), 1)
})

void t.test(
  'polls cost no write; the job writes each instance once, whatever it asked',
  async (t) => {
    const { services, sdkTenant, poll: ask, clock } = await startFeedApi(t)
    await sdkTenant('acme')
    let changes = 0
    services.store.onCommit(() => void changes++)
    for (let round = 0; round < 3; round++)
      for (const name of ['a', 'b']) await ask('acme', { 'x-service-instance': name })
    t.equal(changes, 0)
    const { jobs } = services
    await jobs.run()
    t.equal(await written(services, 'acme'), 2)
    clock.advance(MINUTE_MS)
    await ask('acme', { 'x-service-instance': 'a' })
    await jobs.run()
    await jobs.close()
    const rows = await services.store.read.select().from(schema.feedInstances)
    t.equal(rows.find(({ name }) => name === 'a')?.lastPollAt, clock.nowMs())
  },
)

void t.test('closing writes what has not been written yet', async (t) => {
  const file = join(temporaryFolder(t), 'service.db')
  const masterKey = Buffer.alloc(32, 1)
  const first = await startServices({ teardown: () => {} }, { file, masterKey })
  await first.tenants.create(tenantNamed('acme', { mode: 'sdk' }), ACTOR)
  first.instances.polled('acme', poll('web-1'), 'state')
  await first.close()
  const second = await startServices(t, { file, masterKey })
  t.match(await second.instances.of('acme'), [{ name: 'web-1' }])
})

void t.test(
  'instances are bounded per tenant: who has not asked for longest is forgotten',
  async (t) => {
    const { tenants, instances, clock, store } = await startSdk(t)
    for (const id of ['acme', 'other'])
      await tenants.create(tenantNamed(id, { mode: 'sdk' }), ACTOR)
    const most = LIMITS.feedInstancesPerTenantMax
    instances.polled('other', poll('quiet'), 'x')
    for (let index = 0; index < most; index++) instances.polled('acme', poll(`n${index}`), 'x')
    await instances.write()
    t.equal((await instances.of('acme')).length, most)
    t.equal(await written({ store }, 'acme'), most)
    clock.advance(1)
    instances.polled('acme', poll('n0'), 'x')
    instances.polled('acme', poll('one more'), 'x')
    const names = new Set((await instances.of('acme')).map(({ name }) => name))
    t.equal(names.size, most)
    t.ok(names.has('n0') && names.has('one more') && !names.has('n1'))
    await instances.write()
    t.equal(await written({ store }, 'acme'), most, 'in the database too')
    t.match(await instances.of('other'), [{ name: 'quiet' }], 'nobody else’s')
  },
)

void t.test('all tenants together are bounded', async (t) => {
  const { tenants, instances } = await startSdk(t)
  const [most, each] = [LIMITS.feedInstancesMax, LIMITS.feedInstancesPerTenantMax]
  const ids = Array.from({ length: most / each + 1 }, (_, index) => `t${index}`)
  for (const id of ids) await tenants.create(tenantNamed(id, { mode: 'sdk' }), ACTOR)
  const sizes = () => Promise.all(ids.map(async (id) => (await instances.of(id)).length))
  for (const id of ids.slice(1))
    for (let index = 0; index < each; index++) instances.polled(id, poll(`n${index}`), 'x')
  t.equal(
    (await sizes()).reduce((a, b) => a + b),
    most,
  )
  instances.polled('t0', poll('one more'), 'x')
  t.strictSame((await sizes()).slice(0, 3), [1, each - 1, each])
})

void t.test('names that somebody invents for one tenant slow that tenant alone', async (t) => {
  const { instances } = await startSdk(t)
  const invent = (from: number, to: number) => {
    for (let index = from; index < to; index++) instances.polled('acme', poll(`n${index}`), 'x')
  }
  const crowd = LIMITS.feedPollsPerSecondMax - LIMITS.feedInstancesCountedPerTenantMax
  for (let index = 0; index < crowd; index++) instances.polled('other', poll(`n${index}`), 'x')
  invent(0, LIMITS.feedInstancesCountedPerTenantMax)
  t.equal(instances.pollSeconds('other'), 1)
  invent(LIMITS.feedInstancesCountedPerTenantMax, LIMITS.feedInstancesPerTenantMax)
  t.equal(instances.pollSeconds('acme'), 20)
  t.equal(instances.pollSeconds('other'), 1)
  t.equal(instances.pollSeconds('nobody yet'), 1)
  instances.polled('third', poll('one more'), 'x')
  t.equal(instances.pollSeconds('other'), 2, 'all of them together still count')
})

void t.test('who has most makes room, and not who has few', async (t) => {
  const { tenants, instances } = await startSdk(t)
  const [most, each] = [LIMITS.feedInstancesMax, LIMITS.feedInstancesPerTenantMax]
  await tenants.create(tenantNamed('quiet', { mode: 'sdk' }), ACTOR)
  instances.polled('quiet', poll('web-1'), 'x')
  for (let index = 0; index <= most; index++)
    instances.polled(`t${Math.floor(index / each)}`, poll(`n${index}`), 'x')
  t.match(await instances.of('quiet'), [{ name: 'web-1' }])
})

void t.test('who has not asked for a week is forgotten', async (t) => {
  const { tenants, instances, clock, store } = await startSdk(t)
  await tenants.create(tenantNamed('acme', { mode: 'sdk' }), ACTOR)
  instances.polled('acme', poll('old'), 'x')
  clock.advance(DAY_MS)
  instances.polled('acme', poll('new'), 'x')
  await instances.write()
  clock.advance(LIMITS.feedInstanceKeptMs - DAY_MS)
  await instances.prune(100)
  t.equal((await instances.of('acme')).length, 2, 'a week to the millisecond')
  clock.advance(1)
  await instances.prune(100)
  t.strictSame(
    (await instances.of('acme')).map(({ name }) => name),
    ['new'],
  )
  t.equal(await written({ store }, 'acme'), 1)
})

void t.test('a tenant that is made anew has none of its namesake’s instances', async (t) => {
  const { tenants, instances, clock, store } = await startSdk(t)
  await tenants.create(tenantNamed('acme', { mode: 'sdk' }), ACTOR)
  instances.polled('acme', poll('old'), 'x')
  await tenants.remove('acme', ACTOR)
  await instances.write()
  t.equal(await written({ store }, 'acme'), 0, 'nothing is written for who is gone')
  clock.advance(1)
  await tenants.create(tenantNamed('acme', { mode: 'sdk' }), ACTOR)
  t.strictSame(await instances.of('acme'), [])
})

void t.test(
  'the interval grows with the instances of all tenants, and is part of the ETag',
  async (t) => {
    const { sdkTenant, poll: ask, services } = await startFeedApi(t)
    await sdkTenant('acme')
    const first = await ask('acme')
    t.equal(first.body['poll_after'], 1)
    for (let index = 0; index < LIMITS.feedPollsPerSecondMax; index++)
      services.instances.polled(`other-${index % 2}`, poll(`n${index}`), 'x')
    const second = await ask('acme', { 'if-none-match': etagOf(first) })
    t.match(second, { status: 200, body: { poll_after: 2 } })
    t.not(etagOf(second), etagOf(first))
    t.equal((await ask('acme', { 'if-none-match': etagOf(second) })).status, 304)
  },
)

void t.test(
  'very many instances are looked at in turns with others, for all who ask',
  async (t) => {
    const { tenants, instances, store, clock } = await startSdk(t)
    await tenants.create(tenantNamed('acme', { mode: 'sdk' }), ACTOR)
    const named = (at: number) => (at === 0 ? '' : `web-${String(at).padStart(5, '0')}`)
    const most = 1700
    const lastPollAt = clock.nowMs()
    await store.change(async ({ queries }) => {
      for (let at = 0; at < most; at++) {
        const seen = { version: '1', etag: 'x', clockOffsetMs: null, lastPollAt }
        await queries
          .insert(schema.feedInstances)
          .values({ tenantId: 'acme', name: named(at), ...seen })
      }
    })
    let [turns, isOver] = [0, false]
    const next = () => {
      turns++
      if (!isOver) setImmediate(next)
    }
    setImmediate(next)
    const both = [instances.of('acme'), instances.of('acme')]
    const [one, other] = await Promise.all(both)
    isOver = true
    t.ok(turns >= 3, `${turns} turns`)
    t.equal(one, other, 'one look for both')
    t.same(
      one?.map(({ name }) => name),
      Array.from({ length: most }, (_, at) => named(at)),
    )
  },
)
