import t from 'tap'
import { createApp } from '../../../control-plane/app.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { OPERATOR_KEY, startApi } from '../../support/api.ts'
import { movableClock } from '../../support/control-plane.ts'
import { tenantBody } from '../../support/application.ts'
import { slowBody } from '../../support/slow-body.ts'
import { createLiveKey } from '../../../control-plane/keys/live-key.ts'

const OPERATOR_CALLS = [
  ['POST', '/tenants'],
  ['GET', '/tenants'],
  ['GET', '/tenants/acme'],
  ['PATCH', '/tenants/acme'],
  ['DELETE', '/tenants/acme'],
  ['POST', '/tenants/acme/publish'],
  ['POST', '/tenants/acme/suspend'],
  ['POST', '/tenants/acme/activate'],
  ['POST', '/tenants/acme/go-live'],
  ['POST', '/tenants/acme/go-back'],
  ['PUT', '/tenants/acme/licence'],
  ['PUT', '/tenants/acme/plan'],
  ['POST', '/tenants/acme/keys/rotate'],
  ['PUT', '/tenants/acme/certificates/acme.localhost'],
  ['POST', '/tenants/acme/analyzer-key/rotate'],
  ['POST', '/tenants/acme/client-secret/rotate'],
  ['POST', '/tenants/acme/users'],
  ['GET', '/tenants/acme/users'],
  ['PATCH', '/tenants/acme/users/x'],
  ['DELETE', '/tenants/acme/users/x'],
  ['GET', '/tenants/acme/sessions'],
  ['POST', '/tenants/acme/revocations'],
  ['GET', '/gateways'],
  ['POST', '/gateways'],
  ['GET', '/audit'],
] as const

const ANALYZER_CALLS = [
  ['GET', '/api/v1/verify/status'],
  ['POST', '/api/v1/verify/probe'],
  ['POST', '/api/v1/go-live'],
  ['POST', '/api/v1/go-back'],
] as const

void t.test('the operator API takes the operator key and nothing else', async (t) => {
  const { operator, tenant, services } = await startApi(t)
  const { analyzer_key, client_secret } = await tenant('acme')
  const revision = await services.store.revision()
  const wrongKeys = [
    null,
    '',
    'x',
    `${OPERATOR_KEY}x`,
    OPERATOR_KEY.slice(1),
    analyzer_key,
    client_secret,
  ]
  for (const [method, path] of OPERATOR_CALLS)
    for (const key of wrongKeys) {
      const answer = await operator(method, path, method === 'GET' ? undefined : {}, {
        key,
        address: `192.0.2.${wrongKeys.indexOf(key)}`,
      })
      t.match(answer, { status: 401, body: { error: 'operator_key_invalid' } }, `${method} ${path}`)
      t.equal(answer.headers.get('www-authenticate'), 'Bearer')
    }
  const spelled = async (authorization: string) =>
    (await operator('GET', '/tenants', undefined, { key: null, headers: { authorization } })).status
  t.equal(await spelled(`bearer ${OPERATOR_KEY}`), 200, 'the scheme has no case')
  for (const value of [
    OPERATOR_KEY,
    `Basic ${OPERATOR_KEY}`,
    `Bearer  ${OPERATOR_KEY}`,
    `Bearer ${OPERATOR_KEY} x`,
    `Bearer ${OPERATOR_KEY},Bearer x`,
  ])
    t.equal(await spelled(value), 401, value)
  const inQuery = await operator('GET', `/tenants?api_key=${OPERATOR_KEY}`, undefined, {
    key: null,
  })
  t.equal(inQuery.status, 401)
  t.equal(await services.store.revision(), revision)
})

void t.test('an operator key may be of any visible characters', async (t) => {
  const visible = Array.from({ length: 0x7e - 0x20 }, (_, index) =>
    String.fromCharCode(0x21 + index),
  ).join('')
  const { services } = await startApi(t)
  const app = createApp(services, { operatorKey: createLiveKey(visible) })
  const ask = async (authorization: string) => {
    const init = { headers: { authorization } }
    return (await app.request('/api/v1/operator/tenants', init, { address: '127.0.0.1' })).status
  }
  t.equal(await ask(`Bearer ${visible}`), 200)
  t.equal(await ask(`Bearer ${visible} ${visible}`), 401)
})

void t.test(
  'a key that is taken out opens nothing, not even for a body that is on its way',
  async (t) => {
    const { services } = await startApi(t)
    const operatorKey = createLiveKey('the-next-key', 'the-key-before')
    const app = createApp(services, { operatorKey })
    const ask = async (key: string, body?: ReadableStream) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const init = body && { method: 'POST', body, duplex: 'half' }
      const path = '/api/v1/operator/tenants'
      return app.request(path, { headers, ...init } as RequestInit, { address: '127.0.0.1' })
    }
    for (const key of ['the-next-key', 'the-key-before']) t.equal((await ask(key)).status, 200, key)

    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const text = JSON.stringify(tenantBody('late', 'http://127.0.0.1:9000'))
    const begun = ask('the-key-before', readable)
    await writer.write(new TextEncoder().encode(text.slice(0, 10)))
    operatorKey.replace('the-next-key', null)
    await writer.write(new TextEncoder().encode(text.slice(10)))
    await writer.close()
    t.match(await (await begun).json(), { error: 'operator_key_invalid' })
    t.equal((await ask('the-key-before')).status, 401)
    t.equal((await ask('the-next-key')).status, 200)
    t.equal(await services.tenants.find('late'), undefined)
  },
)

void t.test('an unknown tenant is 404 for every call about one', async (t) => {
  const { operator } = await startApi(t)
  const bodies: Record<string, unknown> = {
    '/licence': { state: 'active' },
    '/plan': { plan: 'free' },
    '/keys/rotate': { phase: 'prepare' },
    '/certificates/acme.localhost': { certificate_pem: 'x', private_key_pem: 'y' },
    '/users': { username: 'a', email: 'a@b.c', password: 'long enough' },
    '/revocations': { all: true },
  }
  for (const [method, path] of OPERATOR_CALLS.filter(([, path]) => path.includes('acme'))) {
    const body = bodies[path.replace('/tenants/acme', '')] ?? {}
    for (const id of ['none', '__proto__', '%00', 'a%2fb', "x'%20or%201=1--"]) {
      const at = path.replace('acme', id)
      const answer = await operator(method, at, method === 'GET' ? undefined : body)
      t.match(answer, { status: 404, body: { error: /not_found$/ } }, `${method} ${at}`)
    }
  }
})

void t.test("an analyzer key opens its own tenant, never another's", async (t) => {
  const { call, operator, tenant } = await startApi(t)
  const acme = await tenant('acme')
  const other = await tenant('other')
  for (const id of ['acme', 'other']) {
    await operator('POST', `/tenants/${id}/publish`)
    await operator('POST', `/tenants/${id}/go-live`, { force: true })
  }
  for (const [method, path] of ANALYZER_CALLS)
    for (const key of [
      null,
      '',
      'x',
      OPERATOR_KEY,
      acme.client_secret,
      `${acme.analyzer_key}x`,
      'x'.repeat(600),
    ])
      t.match(await call(method, path, undefined, { key }), {
        status: 401,
        body: { error: 'analyzer_key_invalid' },
      })
  const inQuery = `/api/v1/verify/status?api_key=${acme.analyzer_key}`
  t.equal((await call('GET', inQuery, undefined, { key: null })).status, 401, 'no key in the query')

  const back = await call('POST', '/api/v1/go-back?tenant_id=other', undefined, {
    key: acme.analyzer_key,
    headers: { 'x-tenant-id': 'other' },
  })
  t.equal(back.body['tenant_id'], 'acme')
  t.equal((await operator('GET', '/tenants/other')).body['protection'], 'on')
  const own = (key: string) =>
    call('GET', `/api/v1/public-key?api_key=${key}`, undefined, { key: null })
  t.not((await own(acme.analyzer_key)).body['text'], (await own(other.analyzer_key)).body['text'])
})

void t.test('a person who opens an unknown address reads so, in their language', async (t) => {
  const { app, services } = await startApi(t)
  const open = (path: string, more: Record<string, string> = {}, method = 'GET') =>
    app.request(services.baseUrl + path, { method, headers: { accept: 'text/html,*/*', ...more } })
  const english = await open('/nothing')
  t.equal(english.status, 404)
  t.match(english.headers.get('content-type'), 'text/html')
  t.match(english.headers.get('content-security-policy'), "default-src 'none'")
  t.match(await english.text(), /<html lang="en">.*<h1>Page not found<\/h1>.*href="\/"/s)
  const german = await open('/api/v1/nothing', { 'accept-language': 'de-AT,de;q=0.9,en;q=0.1' })
  t.match(await german.text(), /<html lang="de">.*<h1>Seite nicht gefunden<\/h1>/s)
  t.equal((await open('/nothing', {}, 'HEAD')).status, 404)
  for (const [more, method] of [
    [{ accept: '*/*' }, 'GET'],
    [{ 'sec-fetch-mode': 'cors' }, 'GET'],
    [{ 'x-requested-with': 'fetch' }, 'GET'],
    [{}, 'POST'],
  ] as const) {
    const answer = await open('/nothing', more, method)
    t.match(await answer.json(), { error: 'not_found' }, 'a program gets JSON')
  }
  for (const [path, status, page] of [
    ['/api/v1/go-live', 405, /Für Programme gedacht.*method_not_allowed/s],
    ['/api/v1/operator/tenants', 401, /Für Programme gedacht.*operator_key_invalid/s],
    ['/install/linux?ticket=none', 404, /Seite nicht gefunden/],
    ['/%zz', 404, /Seite nicht gefunden/],
  ] as const) {
    const read = await open(path, { 'accept-language': 'de' })
    t.equal(read.status, status, path)
    t.match(await read.text(), page, path)
    t.match((await open(path, { accept: '*/*' })).headers.get('content-type'), /json/, path)
  }
  const refused = await open('/api/v1/operator/nothing')
  t.equal(refused.status, 401, 'who may not ask does not learn what exists')
})

void t.test('an unknown address is 404, a wrong method 405 with what is allowed', async (t) => {
  const { call, operator } = await startApi(t)
  for (const path of [
    '/api',
    '/api/v1',
    '/api/v2/contract',
    '/api/v1/contract/x',
    '/nothing',
    '/tenants/acme',
  ])
    t.match(await call('GET', path), { status: 404, body: { error: 'not_found' } }, path)
  t.equal((await call('DELETE', '/api/v1/openapi-json')).status, 404, 'a dot is a dot')
  t.match(await operator('GET', '/nothing'), { status: 404, body: { error: 'not_found' } })
  const cases = [
    ['DELETE', '/api/v1/contract', 'GET'],
    ['POST', '/api/v1/public-key', 'GET'],
    ['GET', '/api/v1/go-live', 'POST'],
    ['PUT', '/api/v1/operator/tenants/acme', 'GET, PATCH, DELETE'],
    ['POST', '/tenants/acme/public-key', 'GET'],
  ] as const
  for (const [method, path, allow] of cases) {
    const answer = await call(method, path)
    t.match(answer, { status: 405, body: { error: 'method_not_allowed' } }, `${method} ${path}`)
    t.equal(answer.headers.get('allow'), allow)
  }
  const unknown = await operator('GET', '/nothing', undefined, { key: 'wrong' })
  t.equal(unknown.status, 401, 'who may not ask does not learn what exists')
})

void t.test(
  'wrong keys are slowed down per address, right ones are not held up by them',
  async (t) => {
    const clock = movableClock()
    const { operator } = await startApi(t, { clock })
    const wrong = () => operator('GET', '/tenants', undefined, { key: 'wrong' })
    for (let count = 0; count < LIMITS.rateRefused.burst; count++) await wrong()
    const limited = await wrong()
    t.match(limited, { status: 429, body: { error: 'rate_limited', retry_after: Number } })
    t.equal(limited.headers.get('retry-after'), '1')
    t.equal((await operator('GET', '/tenants')).status, 200)
    clock.advance(1000)
    t.equal((await wrong()).status, 401, 'after Retry-After it is the key that is wrong')
  },
)

void t.test('every answer has a request id, which is the one in the audit trail', async (t) => {
  const { operator, call } = await startApi(t)
  const created = await operator('POST', '/tenants', {
    tenant_id: 'a',
    hostnames: ['a.b'],
    origin: 'http://a',
  })
  const [entry] = (await operator('GET', '/audit')).items
  t.equal(entry?.['request_id'], created.headers.get('x-request-id'))
  for (const path of ['/', '/api/v1/contract', '/health/live', '/api/v1/verify/status'])
    t.match((await call('GET', path)).headers.get('x-request-id'), /^[0-9a-f-]{36}$/, path)
  const given = await call('GET', '/health/live', undefined, {
    headers: { 'x-request-id': 'mine' },
  })
  t.not(given.headers.get('x-request-id'), 'mine', 'nobody chooses what the log says')
})

void t.test(
  'a key that is replaced while a body is on its way opens nothing with it',
  async (t) => {
    const { app, tenant, operator } = await startApi(t)
    const sent = await tenant('acme', { mode: 'sdk', hostnames: [] })
    const credentials = Buffer.from(`${sent.client_id}:${sent.client_secret}`).toString('base64')
    for (const [path, text, authorization, replace] of [
      [
        '/api/v1/go-live',
        '{ }',
        `Bearer ${sent.analyzer_key}`,
        () => operator('POST', '/tenants/acme/analyzer-key/rotate', {}),
      ],
      [
        '/api/v1/enforcement/events',
        '{ "events": [] }',
        `Basic ${credentials}`,
        () => operator('DELETE', '/tenants/acme'),
      ],
    ] as const) {
      const ask = async (meanwhile: () => Promise<unknown>) => {
        const { body, begun, goOn } = slowBody(text)
        const headers = { authorization, 'content-type': 'application/json' }
        const answered = app.request(path, {
          method: 'POST',
          headers,
          body,
          duplex: 'half',
        })
        await begun
        await meanwhile()
        goOn()
        return (await answered).status
      }
      t.not(await ask(async () => undefined), 401, `${path}: as long as it is one`)
      t.equal(await ask(replace), 401, path)
    }
  },
)
