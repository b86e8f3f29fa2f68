import { AsyncLocalStorage } from 'node:async_hooks'
import t from 'tap'
import { ACTOR } from '../../support/control-plane.ts'
import { basic, etagOf, startFeedApi } from '../../support/feed-api.ts'
import { LIMITS } from '../../../shared/limits.ts'

void t.test('the state says all that a middleware needs, field by field', async (t) => {
  const { sdkTenant, poll } = await startFeedApi(t)
  await sdkTenant('acme', {
    name: 'Acme',
    origin: 'https://app.acme.example',
    sealed: ['/internal'],
    excluded: ['/assets'],
    session_binding: 'step_up',
  })
  const answer = await poll('acme')
  t.equal(answer.status, 200)
  t.equal(answer.headers.get('content-type'), 'application/json')
  t.equal(answer.headers.get('cache-control'), 'no-store')
  t.match(etagOf(answer), /^"[\x21\x23-\x7e]+"$/, 'a strong one')
  t.strictSame(answer.body, {
    poll_after: 1,
    tenant: {
      tenant_id: 'acme',
      name: 'Acme',
      mode: 'sdk',
      status: 'published',
      protection: 'pass-through',
      licence: 'active',
      licence_blocks_signin: false,
      origin: 'https://app.acme.example',
      sealed: ['/internal'],
      excluded: ['/assets'],
      health: '/health',
      max_session_seconds: 28_800,
      idle_seconds: 900,
      session_binding: 'step_up',
    },
    revoked: { all: 0, subjects: {}, sids: {} },
  })
})

void t.test('whoever has the state already is answered 304, without a body', async (t) => {
  const { sdkTenant, poll } = await startFeedApi(t)
  await sdkTenant('acme')
  const etag = etagOf(await poll('acme'))
  const matching = [
    etag,
    `W/${etag}`,
    '*',
    ' * ',
    `"x", ${etag}`,
    `${etag},"x"`,
    `W/"a,b" ,\t${etag} `,
    `, ,${etag}`,
  ]
  for (const ifNoneMatch of matching) {
    const answer = await poll('acme', { 'if-none-match': ifNoneMatch })
    t.equal(answer.status, 304, ifNoneMatch)
    t.equal(answer.body['text'], '', 'no body')
    t.equal(etagOf(answer), etag, 'the ETag once more')
    t.equal(answer.headers.get('content-type'), null)
    t.ok(answer.headers.get('x-request-id'))
  }
  const others = [
    '"x"',
    '""',
    '',
    etag.slice(1, -1),
    etag.slice(0, -1),
    `"x" ${etag}`,
    `x, ${etag}`,
    etag.toUpperCase(),
    `w/${etag}`,
    `${etag}x`,
    `"*"`,
    '*, "x"',
  ]
  for (const ifNoneMatch of others)
    t.equal((await poll('acme', { 'if-none-match': ifNoneMatch })).status, 200, ifNoneMatch)
})

void t.test('a long list of tags costs one pass over it', async (t) => {
  const { sdkTenant, poll } = await startFeedApi(t)
  await sdkTenant('acme')
  const etag = etagOf(await poll('acme'))
  const many = '"x",'.repeat(3000)
  t.equal((await poll('acme', { 'if-none-match': `${many}${etag}` })).status, 304)
  t.equal((await poll('acme', { 'if-none-match': `${',\t'.repeat(6000)}x` })).status, 200)
})

void t.test('every change of the tenant is another state, and a revocation too', async (t) => {
  const { sdkTenant, poll, operator, session, services } = await startFeedApi(t)
  await sdkTenant('acme')
  await sdkTenant('other')
  const sid = await session('acme', 's1')
  const othersFirst = etagOf(await poll('other'))
  const seen = new Set([etagOf(await poll('acme'))])
  const changes: [string, () => Promise<unknown>, unknown][] = [
    [
      'sealed',
      () => operator('PATCH', '/tenants/acme', { sealed: ['/x'] }),
      { tenant: { sealed: ['/x'] } },
    ],
    [
      'name',
      () => operator('PATCH', '/tenants/acme', { name: 'New' }),
      { tenant: { name: 'New' } },
    ],
    [
      'protection',
      () => services.tenants.goLive('acme', { force: true }, ACTOR),
      { tenant: { protection: 'on' } },
    ],
    [
      'licence',
      () => operator('PUT', '/tenants/acme/licence', { state: 'expired', blocks_signin: true }),
      { tenant: { licence: 'expired', licence_blocks_signin: true } },
    ],
    [
      'sid',
      () => operator('POST', '/tenants/acme/revocations', { sid }),
      { revoked: { sids: { s1: Number } } },
    ],
    [
      'subject',
      () => operator('POST', '/tenants/acme/revocations', { subject: 'ada' }),
      { revoked: { subjects: { ada: Number } } },
    ],
    [
      'all',
      () => operator('POST', '/tenants/acme/revocations', { all: true }),
      { revoked: { all: Number } },
    ],
    [
      'suspended',
      () => operator('POST', '/tenants/acme/suspend'),
      { tenant: { status: 'suspended' } },
    ],
  ]
  for (const [name, change, expected] of changes) {
    const before = [...seen].at(-1) ?? ''
    await change()
    const answer = await poll('acme', { 'if-none-match': before })
    t.equal(answer.status, 200, name)
    t.match(answer.body, expected, name)
    t.notOk(seen.has(etagOf(answer)), `${name}: another ETag`)
    seen.add(etagOf(answer))
    t.equal((await poll('acme', { 'if-none-match': etagOf(answer) })).status, 304, name)
  }
  t.equal((await poll('other', { 'if-none-match': othersFirst })).status, 304, 'nobody else’s')
})

void t.test(
  'a wrong secret and an unknown tenant are refused alike, and told which scheme',
  async (t) => {
    const { sdkTenant, poll, report, tenant, authorization } = await startFeedApi(t)
    const { client_secret: secret, analyzer_key: analyzer } = await sdkTenant('acme')
    const other = await tenant('other', { mode: 'sdk' })
    const right = authorization('acme')
    t.equal((await poll('acme')).status, 200, 'the state is cached now')
    const wrong: Record<string, string> = {
      'wrong secret': basic('acme-user', `${secret}x`),
      'first part of the secret': basic('acme-user', secret.slice(0, -1)),
      'no secret': basic('acme-user', ''),
      "another tenant's secret": basic('acme-user', other.client_secret),
      'analyzer key': basic('acme-user', analyzer),
      'unknown tenant': basic('nobody-user', secret),
      'tenant id alone': basic('acme', secret),
      'other case': basic('ACME-user', secret),
      'no client': basic('', secret),
      'suffix alone': basic('-user', secret),
      'path in it': basic('../acme-user', secret),
      bearer: `Bearer ${secret}`,
      'no base64': 'Basic %%%',
      'nothing behind it': 'Basic ',
      'no colon': `Basic ${Buffer.from('acme-user').toString('base64')}`,
      'two of them': `${right}, ${right}`,
      'too long': basic('acme-user', 'x'.repeat(LIMITS.secretCharactersMax + 1)),
    }
    for (const [name, authorization] of Object.entries(wrong))
      for (const answer of [
        await poll('acme', { authorization }),
        await poll('acme', { authorization, 'if-none-match': '*' }),
        await report('acme', { events: [] }, { headers: { authorization } }),
      ]) {
        t.equal(answer.status, 401, name)
        const challenge = answer.headers.get('www-authenticate')
        t.equal(challenge, 'Basic realm="service", charset="UTF-8"', name)
        t.strictSame(answer.body, {
          error: 'client_credentials_invalid',
          detail: 'The client id or the client secret is missing or wrong.',
        })
        t.equal(answer.headers.get('etag'), null)
      }
    t.equal((await poll('acme', { authorization: right.replace('Basic', 'bAsIc') })).status, 200)
  },
)

void t.test('refusing costs the same look at the database, whatever was wrong', async (t) => {
  const { sdkTenant, poll, services } = await startFeedApi(t)
  await sdkTenant('acme')
  await poll('acme')
  const { store } = services
  const asking = new AsyncLocalStorage<{ reads: number }>() // others read at the same time
  const select = store.read.select.bind(store.read)
  t.intercept(store.read, 'select', {
    value: (...args: Parameters<typeof select>) => {
      const asked = asking.getStore()
      if (asked !== undefined) asked.reads += 1
      return select(...args)
    },
  })
  const readsOf = async (authorization?: string) => {
    const asked = { reads: 0 }
    await asking.run(asked, () =>
      poll('acme', authorization === undefined ? {} : { authorization }),
    )
    return asked.reads
  }
  t.equal(await readsOf(), 0, 'who is right is known')
  t.equal(await readsOf(basic('acme-user', 'wrong')), 1)
  t.equal(await readsOf(basic('nobody-user', 'wrong')), 1)
  t.equal(await readsOf(basic('NOT AN ID-user', 'wrong')), 1)
})

void t.test(
  'whoever is refused too often is told to wait, and who is right still gets in',
  async (t) => {
    const { sdkTenant, poll } = await startFeedApi(t)
    await sdkTenant('acme')
    const authorization = basic('acme-user', 'wrong')
    for (let count = 0; count < LIMITS.rateRefused.burst; count++)
      if ((await poll('acme', { authorization })).status !== 401) t.fail('refused early')
    const refused = await poll('acme', { authorization })
    t.equal(refused.status, 429)
    t.equal(refused.headers.get('retry-after'), '1')
    t.equal((await poll('acme')).status, 200)
  },
)

void t.test('where the edge enforces, and before publication, there is no feed', async (t) => {
  const { tenant, poll, report, operator } = await startFeedApi(t)
  const states = [
    { mode: 'gateway', isPublished: true, error: 'mode_not_sdk' },
    { mode: 'connector', isPublished: true, error: 'mode_not_sdk' },
    { mode: 'gateway', isPublished: false, error: 'mode_not_sdk' },
    { mode: 'sdk', isPublished: false, error: 'tenant_draft' },
  ]
  for (const [index, { mode, isPublished, error }] of states.entries()) {
    const id = `t${index}`
    const { client_secret } = await tenant(id, { mode })
    if (isPublished) await operator('POST', `/tenants/${id}/publish`)
    const headers = { authorization: basic(`${id}-user`, client_secret), 'if-none-match': '*' }
    for (const answer of [
      await poll(id, headers),
      await report(id, { events: [{ outcome: 'sealed' }] }, { headers }),
    ]) {
      t.equal(answer.status, 409, error)
      t.match(answer.body, { error, detail: /./ })
      t.equal(answer.headers.get('etag'), null)
    }
    t.strictSame((await operator('GET', `/tenants/${id}/instances`)).items, [])
    t.strictSame((await operator('GET', `/tenants/${id}/enforcement-events`)).items, [])
  }
})

void t.test('a suspended tenant is told so, and one that is gone is unknown', async (t) => {
  const { sdkTenant, poll, operator } = await startFeedApi(t)
  await sdkTenant('acme')
  const etag = etagOf(await poll('acme'))
  await operator('POST', '/tenants/acme/suspend')
  const answer = await poll('acme', { 'if-none-match': etag })
  t.match(answer, { status: 200, body: { tenant: { status: 'suspended' } } })
  await operator('DELETE', '/tenants/acme')
  t.equal((await poll('acme')).status, 401)
})

void t.test('a changed mode is noticed at once by who still polls', async (t) => {
  const { sdkTenant, poll, operator } = await startFeedApi(t)
  await sdkTenant('acme')
  t.equal((await poll('acme')).status, 200)
  await operator('PATCH', '/tenants/acme', { mode: 'gateway', hostnames: ['acme.localhost'] })
  t.match(await poll('acme'), {
    status: 409,
    body: { error: 'mode_not_sdk', detail: /not in sdk mode: gateways enforce sign-in/ },
  })
})

void t.test('users and sessions of any name can be revoked', async (t) => {
  const { sdkTenant, poll, operator, session } = await startFeedApi(t)
  await sdkTenant('acme')
  await session('acme', '__proto__', 'constructor')
  await operator('POST', '/tenants/acme/revocations', { sid: '__proto__' })
  await operator('POST', '/tenants/acme/revocations', { subject: 'constructor' })
  const { revoked } = (await poll('acme')).body as { revoked: Record<string, object> }
  t.ok(Object.hasOwn(revoked['sids']!, '__proto__'))
  t.ok(Object.hasOwn(revoked['subjects']!, 'constructor'))
})

void t.test('other methods are refused, and HEAD is a poll without its body', async (t) => {
  const { app, sdkTenant, call, authorization } = await startFeedApi(t)
  await sdkTenant('acme')
  const headers = { authorization: authorization('acme') }
  const ask = (method: string, path: string) =>
    call(method, `/api/v1/enforcement/${path}`, undefined, { key: null, headers })
  const posted = await ask('POST', 'state')
  t.match(posted, { status: 405, body: { error: 'method_not_allowed' } })
  t.equal(posted.headers.get('allow'), 'GET')
  t.equal((await ask('GET', 'events')).status, 405)
  const head = await app.request('/api/v1/enforcement/state', { method: 'HEAD', headers })
  t.equal(head.status, 200)
  t.ok(head.headers.get('etag'))
  t.equal(await head.text(), '')
})

void t.test(
  'one instance that asks in a loop is slowed down, and its siblings are not',
  async (t) => {
    const { sdkTenant, poll, clock } = await startFeedApi(t)
    await sdkTenant('acme')
    const headers = { 'x-service-instance': 'busy' }
    for (let count = 0; count < LIMITS.rateFeedInstance.burst; count++)
      if ((await poll('acme', headers)).status !== 200) t.fail(`refused after ${count} polls`)
    const refused = await poll('acme', headers)
    t.match(refused, { status: 429, body: { error: 'rate_limited' } })
    t.equal(refused.headers.get('retry-after'), '1')
    t.equal((await poll('acme', { 'x-service-instance': 'calm' })).status, 200)
    clock.advance(1000)
    t.equal((await poll('acme', headers)).status, 200)
  },
)

void t.test(
  'a tenant that invents instances is slowed down, and other tenants are not',
  async (t) => {
    const { sdkTenant, services, poll, clock } = await startFeedApi(t)
    await sdkTenant('acme')
    await sdkTenant('other')
    const acme = await services.tenants.get('acme')
    for (let count = 0; count < LIMITS.rateFeedTenant.burst; count++)
      services.feed.admit(acme, `invented-${count % 5}-${count}`)
    t.match(await poll('acme'), { status: 429, body: { error: 'rate_limited' } })
    t.equal((await poll('other')).status, 200)
    clock.advance(1000)
    t.equal((await poll('acme')).status, 200)
  },
)
