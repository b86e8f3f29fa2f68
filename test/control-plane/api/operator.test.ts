import t from 'tap'
import { refuseGoLive } from '../../../control-plane/tenants/protection.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { newTenant, startApi } from '../../support/api.ts'
import { movableClock } from '../../support/control-plane.ts'

void t.test('a tenant is created with its secrets, which are never answered again', async (t) => {
  const { operator } = await startApi(t)
  const created = await operator('POST', '/tenants', newTenant('acme'))
  t.equal(created.status, 201)
  t.match(created.body, {
    ...newTenant('acme'),
    status: 'draft',
    protection: 'pass-through',
    licence: 'active',
    client_id: 'acme-user',
    client_secret: /^scs_[\w-]{43}$/,
    analyzer_key: /^sak_[\w-]{43}$/,
    issuer: 'http://localhost:8080/auth/realms/acme',
  })
  const { client_secret, analyzer_key } = created.body
  for (const path of ['/tenants/acme', '/tenants', '/audit', '/tenants/acme/sessions']) {
    const text = JSON.stringify((await operator('GET', path)).body)
    t.notOk(text.includes(String(client_secret)) || text.includes(String(analyzer_key)), path)
    t.notMatch(text, /sealed":"v1|_hash/, path)
  }
})

void t.test('what is left out gets a default, and spellings are made one', async (t) => {
  const { operator } = await startApi(t)
  const answer = await operator('POST', '/tenants', {
    tenant_id: 'acme',
    hostnames: ['App.Example.COM'],
    origin: 'HTTP://App.Internal:80/',
    sealed: ['/admin/', '/admin', '/'],
  })
  t.match(answer, {
    status: 201,
    body: {
      name: 'acme',
      mode: 'gateway',
      plan: 'free',
      hostnames: ['app.example.com'],
      origin: 'http://app.internal',
      sealed: ['/admin', '/'],
      excluded: [],
      health: '/health',
      max_session_seconds: 28_800,
      idle_seconds: 900,
      session_binding: 'off',
    },
  })
})

void t.test('one second is a legal session', async (t) => {
  const { tenant } = await startApi(t)
  t.match(await tenant('acme', { max_session_seconds: 1, idle_seconds: 1 }), {
    max_session_seconds: 1,
    idle_seconds: 1,
  })
})

void t.test('of two that create the same at once exactly one gets it', async (t) => {
  const { operator, services } = await startApi(t)
  const pairs = [
    {
      bodies: [newTenant('acme'), newTenant('acme', { hostnames: ['b.example'] })],
      code: 'tenant',
    },
    {
      bodies: [
        newTenant('one', { hostnames: ['x.test'] }),
        newTenant('two', { hostnames: ['x.test'] }),
      ],
      code: 'hostname',
    },
  ]
  for (const { bodies, code } of pairs) {
    const answers = await Promise.all(bodies.map((body) => operator('POST', '/tenants', body)))
    t.strictSame(answers.map(({ status }) => status).sort(), [201, 409])
    const refused = answers.find(({ status }) => status === 409)
    const field = code === 'tenant' ? 'tenant_id' : 'hostnames'
    t.match(refused?.body, { error: `${code}_taken`, field })
  }
  t.equal((await operator('GET', '/tenants')).items.length, 2)
  t.equal((await operator('GET', '/audit')).items.length, 2, 'the refused ones left nothing')
  t.equal(await services.store.revision(), 2)
})

void t.test('a changed hostname is free again, and a taken one is refused whole', async (t) => {
  const { operator, tenant } = await startApi(t)
  await tenant('acme', { hostnames: ['a.test', 'b.test'] })
  await tenant('other', { hostnames: ['c.test'] })
  const refused = await operator('PATCH', '/tenants/acme', { name: 'x', hostnames: ['c.test'] })
  t.match(refused, { status: 409, body: { error: 'hostname_taken', field: 'hostnames' } })
  const after = await operator('GET', '/tenants/acme')
  t.match(after.body, { name: 'acme', hostnames: ['a.test', 'b.test'] })

  t.equal((await operator('PATCH', '/tenants/acme', { hostnames: ['b.test'] })).status, 200)
  const moved = await operator('PATCH', '/tenants/other', { hostnames: ['c.test', 'a.test'] })
  t.match(moved, { status: 200, body: { hostnames: ['c.test', 'a.test'] } })
})

void t.test('a change of a published tenant is a new revision, no change is none', async (t) => {
  const { operator, tenant, services } = await startApi(t)
  await tenant('acme')
  await operator('POST', '/tenants/acme/publish')
  const before = await services.store.revision()
  const same = await operator('PATCH', '/tenants/acme', { name: 'acme', sealed: ['/internal'] })
  t.match(same, { status: 200, body: { revision: before } })
  const changed = await operator('PATCH', '/tenants/acme', { sealed: ['/internal', '/admin'] })
  t.match(changed, { status: 200, body: { revision: before + 1 } })
  const { snapshot } = (await services.fleetSource.snapshot('acme')) ?? {}
  t.match(snapshot, { revision: before + 1, sealed: ['/internal', '/admin'] })
})

void t.test('a tenant needs a hostname at the edge, and none in its own middleware', async (t) => {
  const { operator, tenant, services } = await startApi(t)
  await tenant('acme', { mode: 'sdk', hostnames: [] })
  await operator('POST', '/tenants/acme/publish')
  t.equal((await services.fleetSource.snapshot('acme'))?.snapshot, null, 'gateways ignore it')
  const refused = await operator('PATCH', '/tenants/acme', { mode: 'gateway' })
  t.match(refused, { status: 400, body: { field: 'hostnames' } })
  const body = { mode: 'gateway', hostnames: ['acme.test'] }
  t.equal((await operator('PATCH', '/tenants/acme', body)).status, 200)
  t.ok((await services.fleetSource.snapshot('acme'))?.snapshot, 'gateways serve it')
})

void t.test('the states of a tenant and the way between them', async (t) => {
  const { operator, tenant, services } = await startApi(t)
  await tenant('acme')
  const post = (what: string, body?: unknown) => operator('POST', `/tenants/acme/${what}`, body)

  for (const what of ['suspend', 'activate'])
    t.match(
      await post(what),
      { status: 409, body: { error: 'tenant_draft' } },
      `${what} of a draft`,
    )
  t.match(await post('go-live', { force: true }), { status: 409, body: { error: 'tenant_draft' } })
  t.match(await post('publish'), { status: 200, body: { status: 'published' } })
  t.match(await post('publish'), { status: 200, body: { status: 'published' } })
  t.equal((await services.keys.publicKeys('acme')).length, 1, 'one key, however often published')

  t.match(await post('suspend'), { status: 200, body: { status: 'suspended' } })
  t.match(await post('suspend'), { status: 200, body: { status: 'suspended' } })
  t.match(await post('publish'), { status: 409, body: { error: 'tenant_suspended' } })
  t.match(await post('go-live', { force: true }), {
    status: 409,
    body: { error: 'tenant_suspended' },
  })
  t.equal((await operator('GET', '/tenants/acme/sessions')).status, 200)
  t.match((await services.fleetSource.snapshot('acme'))?.snapshot, { status: 'suspended' })
  t.match(await post('activate'), { status: 200, body: { status: 'published' } })
  t.match(await post('activate'), { status: 200, body: { status: 'published' } })

  const actions = (await operator('GET', '/audit')).items.map(({ action }) => action)
  t.strictSame(
    actions.reverse(),
    ['tenant.created', 'tenant.published', 'tenant.suspended', 'tenant.activated'],
    'each change is noted once',
  )
})

void t.test(
  'a draft that wants to go live, or be checked, hears that publishing comes first',
  async (t) => {
    const { operator, tenant, call } = await startApi(t)
    const { analyzer_key: key } = await tenant('acme')
    const missing = ['published', 'middleware_mounted', 'key_installed']
    const draft = { status: 409, body: { error: 'tenant_draft', missing } }
    for (const ask of ['go-live', 'integration-complete', 'verify/probe'])
      t.match(await call('POST', `/api/v1/${ask}`, undefined, { key }), draft, ask)
    for (const force of [false, true])
      t.match(await operator('POST', '/tenants/acme/go-live', { force }), draft, `force: ${force}`)
  },
)

void t.test('going live needs verification or force, going back needs nothing', async (t) => {
  const clock = movableClock()
  const { operator, tenant, call } = await startApi(t, { clock })
  const { analyzer_key: key } = await tenant('acme')
  const customer = (what: string, body?: unknown) => call('POST', `/api/v1/${what}`, body, { key })
  const missing = ['middleware_mounted', 'key_installed']

  await operator('POST', '/tenants/acme/publish')
  t.match(await customer('go-live', {}), { status: 409, body: { error: 'not_verified', missing } })
  t.match(await operator('POST', '/tenants/acme/go-live'), { status: 409, body: { missing } })
  const forced = await customer('go-live', { force: true })
  t.match(forced, { status: 400, body: { field: 'force' } }, 'only the operator may')

  const live = await operator('POST', '/tenants/acme/go-live', { force: true })
  const at = new Date(clock.nowMs()).toISOString()
  const on = { tenant_id: 'acme', protection: 'on', at }
  const enforced = { gateways: 0, of: 0 }
  t.strictSame(live.body, { ...on, enforced })
  clock.advance(60_000)
  t.strictSame((await customer('go-live')).body, on, 'on already: the same answer')
  const [noted] = (await operator('GET', '/audit')).items
  t.match(noted, { action: 'protection.on', actor: 'operator', details: { force: true, missing } })

  await operator('POST', '/tenants/acme/suspend')
  await operator('PUT', '/tenants/acme/licence', { state: 'expired', blocks_signin: true })
  const back = await call('POST', '/api/v1/go-back', undefined, {
    key,
    raw: '{nonsense',
    type: 'x/y',
  })
  t.match(back, { status: 200, body: { tenant_id: 'acme', protection: 'pass-through' } })
  const backAgain = await operator('POST', '/tenants/acme/go-back')
  t.strictSame(backAgain.body, { ...back.body, enforced })

  await operator('POST', '/tenants/acme/activate')
  await operator('POST', '/tenants/acme/go-live', { force: true })
  t.match(await customer('go-back'), { status: 200, body: { protection: 'pass-through' } })
})

void t.test('going back is refused by no rate', async (t) => {
  const { tenant, call } = await startApi(t)
  const { analyzer_key: key } = await tenant('acme')
  for (let count = 0; count < LIMITS.rateAnalyzer.burst; count++)
    await call('GET', '/api/v1/verify/status', undefined, { key })
  const limited = await call('GET', '/api/v1/verify/status', undefined, { key })
  t.equal(limited.status, 429)
  t.match(limited.headers.get('retry-after'), /^[1-9]\d*$/)
  t.equal((await call('POST', '/api/v1/go-back', undefined, { key })).status, 200)
  const elsewhere = { key, address: '192.0.2.7' }
  t.equal((await call('GET', '/api/v1/verify/status', undefined, elsewhere)).status, 200)
})

void t.test('nobody goes live into a licence that lets nobody in', async (t) => {
  const { operator, tenant } = await startApi(t)
  await tenant('acme')
  await operator('POST', '/tenants/acme/publish')
  await operator('PUT', '/tenants/acme/licence', { state: 'expired', blocks_signin: true })
  t.strictSame(
    refuseGoLive({ status: 'published', licence: 'expired', licenceBlocksSignin: true }, [], [], {
      force: false,
    }),
    { code: 'licence_blocked', fields: {} },
  )
  t.match(await operator('POST', '/tenants/acme/go-live', { force: true }), { status: 200 })
})

void t.test('licence and plan', async (t) => {
  const { operator, tenant, services } = await startApi(t)
  await tenant('acme')
  await operator('POST', '/tenants/acme/publish')
  const licence = await operator('PUT', '/tenants/acme/licence', {
    state: 'expired',
    blocks_signin: true,
  })
  t.match(licence, { status: 200, body: { licence: 'expired', licence_blocks_signin: true } })
  t.match((await services.fleetSource.snapshot('acme'))?.snapshot, {
    licence: 'expired',
    licence_blocks_signin: true,
  })
  const plan = await operator('PUT', '/tenants/acme/plan', { plan: 'standard' })
  t.match(plan, { status: 200, body: { plan: 'standard' } })
})

void t.test('a removed tenant is gone with all it had, and its names are free', async (t) => {
  const { operator, tenant, services, call } = await startApi(t)
  const { analyzer_key: key } = await tenant('acme')
  await operator('POST', '/tenants/acme/publish')
  const user = { username: 'ada', email: 'ada@example.test', password: 'long enough' }
  t.equal((await operator('POST', '/tenants/acme/users', user)).status, 201)
  t.equal((await operator('DELETE', '/tenants/acme')).status, 204)
  t.equal((await operator('DELETE', '/tenants/acme')).status, 404)
  t.equal((await operator('GET', '/tenants/acme')).status, 404)
  t.equal((await call('GET', '/tenants/acme/public-key')).status, 404)
  t.equal((await call('GET', '/api/v1/verify/status', undefined, { key })).status, 401)
  const revision = await services.store.revision()
  t.strictSame(await services.fleetSource.changedSince(0, 10), [
    { tenant_id: 'acme', revision, snapshot: null },
  ])
  await tenant('acme')
  t.strictSame((await operator('GET', '/tenants/acme/users')).items, [], 'nobody came back')
  t.equal((await services.fleetSource.changedSince(revision, 10)).length, 1)
})

void t.test('secrets are rotated: the old one is worth nothing from the answer on', async (t) => {
  const { operator, tenant, services, call } = await startApi(t)
  const old = await tenant('acme')
  const status = (key: string) => call('GET', '/api/v1/verify/status', undefined, { key })
  const { body } = await operator('POST', '/tenants/acme/analyzer-key/rotate')
  t.equal((await status(old.analyzer_key)).status, 401)
  t.equal((await status(String(body['analyzer_key']))).status, 200)
  const rotated = await operator('POST', '/tenants/acme/client-secret/rotate', {
    overlap_seconds: 0,
  })
  t.match(rotated.body, { tenant_id: 'acme', client_id: 'acme-user', client_secret: /^scs_/ })
  t.equal(rotated.body['previous_valid_until'], null)
  t.not(rotated.body['client_secret'], old.client_secret)
  t.equal(await services.tenants.clientSecret('acme'), rotated.body['client_secret'])
})

void t.test('users: created, listed, changed, removed', async (t) => {
  const { operator, tenant } = await startApi(t)
  await tenant('acme')
  await tenant('other')
  const ada = { username: 'Ada', email: 'Ada@example.test', name: 'Ada', password: 'long enough' }
  const created = await operator('POST', '/tenants/acme/users', ada)
  t.equal(created.status, 201)
  t.match(created.body, { user_id: /^usr_[0-9a-f]{32}$/, username: 'Ada', disabled: false })
  t.notOk('password' in created.body || 'password_hash' in created.body)
  const path = `/tenants/acme/users/${String(created.body['user_id'])}`

  const again = await operator('POST', '/tenants/acme/users', {
    ...ada,
    username: 'ADA',
    email: 'x@y.z',
  })
  t.match(again, { status: 409, body: { error: 'username_taken', field: 'username' } })
  const mail = { ...ada, username: 'eve', email: 'ada@EXAMPLE.test' }
  t.match(await operator('POST', '/tenants/acme/users', mail), {
    status: 409,
    body: { error: 'email_taken', field: 'email' },
  })
  t.equal((await operator('POST', '/tenants/other/users', ada)).status, 201, 'another tenant')
  t.equal((await operator('POST', '/tenants/none/users', ada)).status, 404)

  const impostor = { ...ada, username: 'ada@example.test', email: 'eve@example.test' }
  t.match(await operator('POST', '/tenants/acme/users', impostor), {
    status: 400,
    body: { field: 'username' },
  })
  const patched = await operator('PATCH', path, { name: 'Ada L.', disabled: true })
  t.match(patched, { status: 200, body: { name: 'Ada L.', disabled: true, username: 'Ada' } })
  const foreign = path.replace('acme', 'other')
  t.equal((await operator('PATCH', foreign, { name: 'x' })).status, 404, "not another tenant's")
  t.equal((await operator('DELETE', foreign)).status, 404)
  t.equal((await operator('GET', '/tenants/acme/users')).items.length, 1)
  t.equal((await operator('DELETE', path)).status, 204)
  t.equal((await operator('GET', '/tenants/acme/users')).items.length, 0)
})

void t.test('revocations answer what they ended, and unknown targets are 404', async (t) => {
  const clock = movableClock()
  const { operator, tenant, services } = await startApi(t, { clock })
  await tenant('acme')
  await tenant('other')
  const user = { username: 'ada', email: 'ada@example.test', password: 'long enough' }
  const { body: ada } = await operator('POST', '/tenants/acme/users', user)
  const userId = String(ada['user_id'])
  for (const sid of ['s1', 's2', 's3'])
    await services.sessions.record({
      tenantId: 'acme',
      sid,
      userId,
      ip: '192.0.2.1',
      userAgent: 'test',
      issuedAtMs: clock.nowMs(),
      expiresAtMs: clock.nowMs() + 3_600_000,
    })
  const revoke = (id: string, body: unknown) => operator('POST', `/tenants/${id}/revocations`, body)
  const notBefore = Math.floor(clock.nowMs() / 1000) + 1
  t.strictSame((await revoke('acme', { sid: 's1' })).body, {
    sid: 's1',
    not_before: notBefore,
    sessions: 1,
    enforced: { gateways: 0, of: 0 },
  })
  t.match(await revoke('acme', { subject: userId }), { body: { sessions: 2 } })
  t.match(await revoke('acme', { all: true }), { body: { sessions: 0, not_before: notBefore } })
  t.match(await revoke('other', { sid: 's1' }), { status: 404, body: { field: 'sid' } })
  t.match(await revoke('other', { subject: userId }), { status: 404, body: { field: 'subject' } })
  t.match(await revoke('none', { all: true }), { status: 404, body: { error: 'tenant_not_found' } })
  const { items } = await operator('GET', '/tenants/acme/sessions')
  t.strictSame(
    items.map(({ state, end_reason }) => [state, end_reason]),
    [
      ['ended', 'revoked'],
      ['ended', 'revoked'],
      ['ended', 'revoked'],
    ],
  )
})
