/** Licences that go on by themselves, and suspensions: from the operator's call to every enforcer. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { createTenants } from '../../../control-plane/tenants/tenants.ts'
import { dueAt, licenceAt, type LicenceTerms } from '../../../control-plane/tenants/licences.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { DAY_MS, HOUR_MS } from '../../../shared/clock.ts'
import { startApi } from '../../support/api.ts'
import { FLEET_KEY, movableClock } from '../../support/control-plane.ts'
import { etagOf, startFeedApi } from '../../support/feed-api.ts'
import { servedAt, startGateway, until } from '../../support/fleet.ts'

const START_MS = Date.parse('2026-03-01T12:00:00Z')
const dayAt = (days: number) => new Date(START_MS + days * DAY_MS).toISOString()

async function startLicences(t: Test) {
  const clock = movableClock(START_MS)
  const api = await startApi(t, { clock })
  const { services, operator } = api
  await api.tenant('acme')
  await operator('POST', '/tenants/acme/publish')
  return {
    ...api,
    clock,
    put: (licence: Record<string, unknown>) => operator('PUT', '/tenants/acme/licence', licence),
    advance: (ms = 0) => (clock.advance(ms), services.tenants.advanceLicences(100)),
    licence: async () => {
      const { body } = await operator('GET', '/tenants/acme')
      return [body['licence'], body['licence_blocks_signin']]
    },
    events: async () => {
      const rows = await services.store.read.select().from(schema.outbox)
      return rows
        .filter(({ event }) => /^(?:licence|tenant)\./.test(event))
        .map(({ event, content }) => [event, ...Object.values(content)])
    },
  }
}

t.test('what has become of a licence, whenever one looks', async (t) => {
  const terms: LicenceTerms = {
    state: 'active',
    blocksSignin: false,
    graceFrom: 100,
    expiresAt: 200,
    expiryBlocks: true,
  }
  const states = [99, 100, 199, 200, 10_000].map((at) => {
    const { state, blocksSignin } = licenceAt(at, terms)
    return `${state} ${blocksSignin}`
  })
  t.same(states, ['active false', 'grace false', 'grace false', 'expired true', 'expired true'])
  t.equal(licenceAt(200, { ...terms, expiryBlocks: false }).blocksSignin, false, 'as it was set')
  t.equal(licenceAt(200, { ...terms, blocksSignin: true, expiryBlocks: false }).blocksSignin, true)
  t.equal(licenceAt(0, { ...terms, state: 'expired' }).state, 'expired', 'it never goes back')
  t.equal(licenceAt(150, { ...terms, state: 'expired' }).state, 'expired')
  t.equal(licenceAt(9e15, { ...terms, graceFrom: null, expiresAt: null }).state, 'active')

  const due = (changes: Partial<LicenceTerms>) => dueAt({ ...terms, ...changes })
  t.equal(due({}), 100)
  t.equal(due({ state: 'grace' }), 200)
  t.equal(due({ state: 'expired' }), null)
  t.equal(due({ graceFrom: null }), 200)
  t.equal(due({ expiresAt: null }), 100)
  t.equal(due({ state: 'grace', expiresAt: null }), null)
})

t.test('active, grace, expired: at its time, once, with its event', async (t) => {
  const { put, advance, licence, events, operator, services } = await startLicences(t)
  const answer = await put({
    state: 'active',
    grace_from: dayAt(30),
    expires_at: dayAt(44),
    blocks_signin_when_expired: true,
  })
  const dates = {
    licence_grace_from: dayAt(30),
    licence_expires_at: dayAt(44),
    licence_blocks_signin_when_expired: true,
  }
  t.match(answer, {
    status: 200,
    body: { licence: 'active', licence_blocks_signin: false, ...dates },
  })
  t.same(await events(), [], 'dates alone are no news')
  await advance(30 * DAY_MS - 1)
  t.same(await licence(), ['active', false])
  t.equal(await advance(1), 1)
  for (let again = 0; again < 3; again++) t.equal(await advance(), 0)
  t.same(await licence(), ['grace', false])
  await Promise.all([advance(14 * DAY_MS), advance()])
  await advance(DAY_MS)
  t.same(await licence(), ['expired', true])
  t.match((await operator('GET', '/tenants/acme')).body, dates)
  t.same(await events(), [
    ['licence.changed', 'grace', false],
    ['licence.changed', 'expired', true],
  ])
  t.match((await services.fleetSource.snapshot('acme'))?.snapshot, {
    licence: 'expired',
    licence_blocks_signin: true,
  })
  const { items } = await operator('GET', '/audit?tenant_id=acme&limit=2')
  t.match(items, [
    { action: 'licence.changed', actor: 'service', details: { state: 'expired' } },
    { action: 'licence.changed', actor: 'service', details: { state: 'grace' } },
  ])
})

t.test('over two dates at once it is told of once, where it has come to', async (t) => {
  const { put, advance, licence, events } = await startLicences(t)
  await put({ state: 'active', grace_from: dayAt(1), expires_at: dayAt(2) })
  await advance(30 * DAY_MS)
  t.same(await licence(), ['expired', false])
  t.same(await events(), [['licence.changed', 'expired', false]])
})

t.test(
  'neither a start nor a clock that goes back brings anything back, or tells again',
  async (t) => {
    const { put, advance, licence, events, services, clock } = await startLicences(t)
    await put({ state: 'active', blocks_signin: true, expires_at: dayAt(1) })
    await advance(DAY_MS)
    await advance(-20 * DAY_MS)
    const edgeUrlFor = (hostname: string) => `http://${hostname}:8000`
    const restarted = createTenants({ ...services, clock, edgeUrlFor })
    for (let day = 0; day < 40; day++) {
      clock.advance(DAY_MS)
      await restarted.advanceLicences(100)
    }
    t.same(await licence(), ['expired', true])
    t.same(await events(), [
      ['licence.changed', 'active', true],
      ['licence.changed', 'expired', true],
    ])
  },
)

t.test('what is put says everything: other dates, or none', async (t) => {
  const { put, advance, licence, events } = await startLicences(t)
  await put({ state: 'active', grace_from: dayAt(1), expires_at: dayAt(2) })
  await put({ state: 'active', expires_at: dayAt(10) })
  await advance(5 * DAY_MS)
  t.same(await licence(), ['active', false])
  await put({ state: 'active' })
  t.match((await put({ state: 'active' })).body, { licence_expires_at: null })
  await advance(365 * DAY_MS)
  t.same(await licence(), ['active', false])
  t.same(await events(), [])
  await put({ state: 'grace', expires_at: dayAt(1000) })
  await put({ state: 'grace', expires_at: dayAt(1001) })
  t.same(await events(), [['licence.changed', 'grace', false]])
})

t.test('a licence that is put as expired blocks as one that has come to its end', async (t) => {
  const { put, licence, events } = await startLicences(t)
  await put({ state: 'expired', blocks_signin_when_expired: true })
  t.same(await licence(), ['expired', true])
  await put({ state: 'expired' })
  t.same(await licence(), ['expired', false])
  t.same(await events(), [
    ['licence.changed', 'expired', true],
    ['licence.changed', 'expired', false],
  ])
})

t.test('dates that no licence comes to are refused, with the field named', async (t) => {
  const { put, events } = await startLicences(t)
  for (const [field, licence] of [
    ['grace_from', { state: 'active', grace_from: dayAt(0) }],
    ['grace_from', { state: 'active', grace_from: dayAt(-1), expires_at: dayAt(1) }],
    ['grace_from', { state: 'grace', grace_from: dayAt(1) }],
    ['grace_from', { state: 'expired', grace_from: dayAt(1) }],
    ['expires_at', { state: 'active', expires_at: dayAt(0) }],
    ['expires_at', { state: 'expired', expires_at: dayAt(1) }],
    ['expires_at', { state: 'active', grace_from: dayAt(2), expires_at: dayAt(2) }],
    ['expires_at', { state: 'active', expires_at: '2099-02-29T00:00:00Z' }],
    ['expires_at', { state: 'active', expires_at: '2099-01-01' }],
    ['expires_at', { state: 'active', expires_at: 4_102_444_800 }],
    ['blocks_signin_when_expired', { state: 'active', blocks_signin_when_expired: 'yes' }],
    ['state', { state: 'lapsed' }],
  ] as const)
    t.match(await put(licence), { status: 400, body: { error: 'field_invalid', field } }, field)
  t.same(await events(), [])
  t.equal((await put({ state: 'active', expires_at: '2026-03-01T13:00:01+01:00' })).status, 200)
})

t.test('a middleware that polls hears of it at the next poll', async (t) => {
  const { sdkTenant, poll, operator, services, clock } = await startFeedApi(t)
  await sdkTenant('acme')
  const expiresAt = new Date(clock.nowMs() + HOUR_MS).toISOString()
  await operator('PUT', '/tenants/acme/licence', {
    state: 'active',
    expires_at: expiresAt,
    blocks_signin_when_expired: true,
  })
  const before = etagOf(await poll('acme'))
  clock.advance(HOUR_MS)
  await services.tenants.advanceLicences(100)
  const after = await poll('acme', { 'if-none-match': before })
  t.match(after, {
    status: 200,
    body: { tenant: { licence: 'expired', licence_blocks_signin: true, status: 'published' } },
  })
  await operator('POST', '/tenants/acme/suspend')
  t.match((await poll('acme')).body, { tenant: { status: 'suspended' } })
  await operator('POST', '/tenants/acme/activate')
  t.match((await poll('acme')).body, { tenant: { status: 'published' } })
})

t.test('a gateway serves what has become of it, and each is told of once', async (t) => {
  const { services, operator, put, advance, events } = await startLicences(t)
  const server = createServer()
  services.fleet.attach(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => (server.closeAllConnections(), server.close()))
  const { port } = server.address() as AddressInfo
  const { registry } = startGateway(t, { port, fleetKey: FLEET_KEY })
  const served = () => servedAt(registry, 'acme.localhost')
  await until(() => served()?.licence === 'active')

  await put({ state: 'active', expires_at: dayAt(1), blocks_signin_when_expired: true })
  await advance(DAY_MS)
  await until(() => served()?.licence === 'expired')
  t.match(served(), { licence_blocks_signin: true, status: 'published' })

  for (let again = 0; again < 2; again++) await operator('POST', '/tenants/acme/suspend')
  await until(() => served()?.status === 'suspended')
  for (let again = 0; again < 2; again++) await operator('POST', '/tenants/acme/activate')
  await until(() => served()?.status === 'published')
  t.same(await events(), [
    ['licence.changed', 'expired', true],
    ['tenant.suspended', 'suspended'],
    ['tenant.activated', 'published'],
  ])
})
