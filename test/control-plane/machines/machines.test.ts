/** Machines and their secrets, as they are kept. */
import { createHash } from 'node:crypto'
import t from 'tap'
import { schema } from '../../../control-plane/store/schema.ts'
import { startApi } from '../../support/api.ts'
import { ACTOR, movableClock } from '../../support/control-plane.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { proveToken } from '../../../shared/enforcement/token.ts'
import { createPublicKey } from 'node:crypto'

async function startWorld(test: { teardown(work: () => unknown): void }) {
  const clock = movableClock()
  const api = await startApi(test, { clock })
  await api.tenant('acme')
  await api.operator('POST', '/tenants/acme/publish')
  const call = (method: string, path: string, body?: object) =>
    api.operator(method, `/tenants/acme${path}`, body)
  const { body } = await call('POST', '/services', { name: 'CI' })
  return { ...api, clock, call, one: `/services/${String(body['service_id'])}` }
}

void t.test('two secrets live at once, a year at most, and are shown once', async (t) => {
  const { call, one, services, clock } = await startWorld(t)
  const made = await call('POST', `${one}/secrets`, { expires_in: 3600 })
  t.match(made, { status: 201, body: { secret: /^sms_[A-Za-z0-9_-]{43}$/ } })
  const second = await call('POST', `${one}/secrets`, {})
  t.equal(second.status, 201)
  t.equal(
    Date.parse(String(second.body['ends_at'])) - clock.nowMs(),
    LIMITS.serviceSecretSecondsDefault * 1000,
  )
  t.match(await call('POST', `${one}/secrets`, {}), {
    status: 409,
    body: { error: 'service_secrets_full' },
  })
  const { serviceSecretSecondsMax: most, serviceSecretSecondsMin: least } = LIMITS
  for (const expires_in of [least - 1, most + 1, 1.5, '3600'])
    t.match(await call('POST', `${one}/secrets`, { expires_in }), { status: 400 }, `${expires_in}`)
  const shown = await call('GET', one)
  t.match(shown.body, { name: 'CI', secrets: [{ secret_id: /^ssk_/ }, { secret_id: /^ssk_/ }] })
  const rows = await services.store.read.select().from(schema.serviceSecrets)
  const secret = String(made.body['secret'])
  t.match(rows[0]?.secretHash, createHash('sha256').update(secret).digest('base64url'))
  const kept = JSON.stringify([
    rows,
    shown,
    await services.store.read.select().from(schema.audit),
    await services.store.read.select().from(schema.outbox),
  ])
  t.notMatch(kept, secret)
  t.notMatch(kept, secret.slice(4))

  clock.advance(3600_000)
  t.equal((await call('POST', `${one}/secrets`, { expires_in: most })).status, 201, 'one has ended')
  t.equal(((await call('GET', one)).body['secrets'] as []).length, 2, 'and is gone')
})

void t.test('gateways say when a secret was used, and the latest word counts', async (t) => {
  const { call, one, services, clock } = await startWorld(t)
  const secretId = String((await call('POST', `${one}/secrets`, {})).body['secret_id'])
  const shown = async () => (await call('GET', one)).body['secrets']
  t.match(await shown(), [{ last_used_at: null }])
  const revision = await services.store.revision()
  const serviceId = one.slice('/services/'.length)
  const used = { tenantId: 'acme', serviceId, secretId, atMs: clock.nowMs() - 5000, requests: 1 }
  await services.machines.used([used, { ...used, atMs: used.atMs - 60_000 }])
  const atMs = new Date(used.atMs).toISOString()
  t.match(await shown(), [{ last_used_at: atMs }])
  await services.machines.used([{ ...used, tenantId: 'other', atMs: used.atMs + 1000 }])
  t.match(await shown(), [{ last_used_at: atMs }], 'of another tenant’s it says nothing')
  await services.machines.used([{ ...used, atMs: clock.nowMs() + 60_000 }])
  t.match(await shown(), [{ last_used_at: new Date(clock.nowMs()).toISOString() }])
  t.equal(await services.store.revision(), revision, 'no gateway is told of it')
})

void t.test('when it was last seen, from where, and how busy it is', async (t) => {
  const { call, one, services, clock } = await startWorld(t)
  const serviceId = one.slice('/services/'.length)
  const secretId = String((await call('POST', `${one}/secrets`, {})).body['secret_id'])
  const never = { last_seen_at: null, last_seen_ip: null, requests_last_day: 0 }
  t.match(await call('GET', one), { body: never })
  const atMs = clock.nowMs()
  const use = { tenantId: 'acme', serviceId, secretId, atMs, ip: '192.0.2.7', requests: 7 }
  await services.machines.used([
    { ...use, atMs: atMs - 60_000, ip: '192.0.2.1', requests: 5 },
    use,
    { ...use, atMs: atMs - 1000, ip: '192.0.2.2', requests: 1 },
    { ...use, tenantId: 'other', atMs: atMs + 1000, requests: 100 },
    { ...use, serviceId: 'svc_00000000000000cc', requests: 100 },
  ])
  const seen = new Date(atMs).toISOString()
  const shown = { last_seen_at: seen, last_seen_ip: '192.0.2.7', requests_last_day: 13 }
  t.match(await call('GET', one), { body: shown })
  t.match(await call('GET', '/services'), { body: { items: [shown] } })
  const rows = await services.store.read.select().from(schema.serviceUses)
  t.same([...new Set(rows.map(({ serviceId: whose }) => whose))], [serviceId], 'of nobody else')
  clock.advance(1000)
  const later = { ...use, atMs: clock.nowMs(), ip: 'no address', requests: 0 }
  await services.machines.used([later])
  t.match((await call('GET', one)).body, { last_seen_ip: '192.0.2.7', requests_last_day: 13 })
  clock.advance(26 * 3600_000)
  t.match((await call('GET', one)).body, { requests_last_day: 0 }, 'of a day')
  t.ok((await services.store.read.select().from(schema.serviceUses)).length > 0)
  clock.advance(LIMITS.serviceUsesKeptMs)
  await services.jobs.run()
  t.same(await services.store.read.select().from(schema.serviceUses), [])
  const still = { last_seen_at: new Date(later.atMs).toISOString(), last_seen_ip: '192.0.2.7' }
  t.match((await call('GET', one)).body, still, 'for as long as it is there')
  await services.machines.used([{ ...use, atMs: clock.nowMs() }])
  await call('DELETE', one)
  t.same(await services.store.read.select().from(schema.serviceUses), [], 'gone with it')
})

void t.test('a machine that a rule names stays until the rule is another one', async (t) => {
  const { call, one, services } = await startWorld(t)
  const service = one.slice('/services/'.length)
  const rules = [{ path: '/hooks', allow: [{ service }] }]
  t.equal((await call('PUT', '/access-rules', { rules })).status, 200)
  t.match(await call('GET', '/access-rules'), { body: { rules } })
  t.match(await call('DELETE', one), { status: 409, body: { error: 'service_used' } })
  t.equal((await call('PUT', '/access-rules', { rules: [] })).status, 200)
  await call('POST', `${one}/secrets`, {})
  t.equal((await call('DELETE', one)).status, 204)
  t.same(await services.store.read.select().from(schema.serviceSecrets), [])
  t.match(await call('PUT', '/access-rules', { rules }), { status: 400 })
  const actions = (await services.store.read.select().from(schema.audit)).map(
    ({ action }) => action,
  )
  for (const action of ['created', 'secret_created', 'deleted'])
    t.ok(actions.includes(`service.${action}`), action)
})

void t.test('no tenant has another one’s, nor more than it may have', async (t) => {
  const { call, one, operator, tenant, services } = await startWorld(t)
  await tenant('other')
  for (const [method, path] of [
    ['GET', one],
    ['PATCH', one],
    ['DELETE', one],
    ['POST', `${one}/secrets`],
  ] as const)
    t.match(
      await operator(method, `/tenants/other${path}`, method === 'GET' ? undefined : {}),
      { status: 404, body: { error: 'service_not_found' } },
      `${method} ${path}`,
    )
  const made = await call('POST', `${one}/secrets`, {})
  const { body: mine } = await operator('POST', '/tenants/other/services', { name: 'Mine' })
  const crossed = `/tenants/other/services/${String(mine['service_id'])}/secrets/${String(made.body['secret_id'])}`
  t.match(await operator('DELETE', crossed), { body: { error: 'service_secret_not_found' } })
  const rules = [{ path: '/', allow: [{ service: one.slice('/services/'.length) }] }]
  t.match(await operator('PUT', '/tenants/other/access-rules', { rules }), { status: 400 })
  for (let count = 1; count < LIMITS.servicesPerTenantMax; count++)
    await services.machines.create('acme', `machine ${count}`, ACTOR)
  t.match(await call('POST', '/services', { name: 'one more' }), {
    body: { error: 'services_full' },
  })
})

void t.test('what gateways are told is the same until a day has passed', async (t) => {
  const { call, one, services, clock } = await startWorld(t)
  await call('POST', `${one}/secrets`, {})
  const told = async () => (await services.fleetSource.snapshot('acme'))?.snapshot
  const first = await told()
  t.same(await told(), first, 'byte for byte')
  const identity = first?.services?.services[0]?.identity ?? ''
  const keys = new Map(
    first?.keys.map(({ kid, kty, n, e }) => [
      kid,
      createPublicKey({ key: { kty, n, e }, format: 'jwk' }),
    ]),
  )
  const { issuer = '', client_id: audience = '' } = first ?? {}
  const sub = one.slice('/services/'.length)
  const claims = proveToken(identity, { issuer, audience, keys })
  t.match(claims, { sub, serviceId: sub, name: 'CI', email: '' })
  await services.jobs.run()
  t.same(await told(), first, 'nothing is due')
  clock.advance(LIMITS.serviceIdentityRenewedMs + 1000)
  await services.jobs.run()
  const next = await told()
  t.not(next?.services?.services[0]?.identity, identity)
  t.ok(Number(next?.revision) > Number(first?.revision), 'gateways hear of it')
  for (const phase of ['prepare', 'promote']) await call('POST', '/keys/rotate', { phase })
  const kidOf = (token = '') =>
    (JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as { kid: string })
      .kid
  const rotated = await told()
  t.equal(kidOf(rotated?.services?.services[0]?.identity), rotated?.keys[0]?.kid)
  t.not(rotated?.keys[0]?.kid, kidOf(identity), 'signed with the key in use')
  await call('DELETE', one)
  t.equal((await told())?.services, undefined)
})
