import t from 'tap'
import { parseStrictJson } from '../../../control-plane/http/strict-json.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { newTenant, startApi } from '../../support/api.ts'

/** N + 1 is refused in wrong-values.test.ts. */
void t.test('everything is taken up to its limit', async (t) => {
  const { operator } = await startApi(t)
  const longest = {
    tenant_id: 'a'.repeat(63),
    name: 'x'.repeat(LIMITS.nameCharactersMax),
    hostnames: Array.from(
      { length: LIMITS.hostnamesPerTenantMax },
      (_, index) => `h${index}.example`,
    ),
    sealed: Array.from({ length: LIMITS.pathPrefixesPerTenantMax }, (_, index) => `/p${index}`),
    excluded: ['/' + 'a'.repeat(LIMITS.pathPrefixBytesMax - 1)],
    max_session_seconds: LIMITS.sessionSecondsMax,
    idle_seconds: LIMITS.sessionSecondsMax,
  }
  const created = await operator('POST', '/tenants', newTenant('x', longest))
  t.match(created, { status: 201, body: longest })
  const user = {
    username: 'u'.repeat(LIMITS.usernameCharactersMax),
    email: `${'m'.repeat(LIMITS.emailCharactersMax - '@x.test'.length)}@x.test`,
    name: 'n'.repeat(LIMITS.nameCharactersMax),
    password: 'p'.repeat(LIMITS.passwordBytesMax),
  }
  const path = `/tenants/${longest.tenant_id}/users`
  t.equal((await operator('POST', path, user)).status, 201)
  const shortest = {
    username: 'a',
    email: 'a@b',
    name: 'a',
    password: 'p'.repeat(LIMITS.passwordCharactersMin),
  }
  t.equal((await operator('POST', path, shortest)).status, 201)
  const { password: _, ...rest } = shortest
  const emoji = { ...rest, username: 'b', email: 'b@b', password: '🔑'.repeat(7) }
  t.match(await operator('POST', path, emoji), { status: 400 }, 'characters are counted, not units')
})

void t.test(
  'a snapshot of everything at its limit still fits through the fleet link',
  async (t) => {
    const { operator, services } = await startApi(t)
    const long = (count: number, lead: string) =>
      Array.from({ length: count }, (_, index) =>
        `/${lead}${index}`.padEnd(LIMITS.pathPrefixBytesMax, 'x'),
      )
    await operator(
      'POST',
      '/tenants',
      newTenant('acme', {
        hostnames: Array.from(
          { length: LIMITS.hostnamesPerTenantMax },
          (_, index) =>
            `${`h${index}`.padEnd(60, 'x')}.${'y'.repeat(60)}.${'z'.repeat(60)}.${'w'.repeat(60)}.test`,
        ),
        sealed: long(LIMITS.pathPrefixesPerTenantMax, 's'),
        excluded: long(LIMITS.pathPrefixesPerTenantMax, 'e'),
      }),
    )
    await operator('POST', '/tenants/acme/publish')
    const { snapshot } = (await services.fleetSource.snapshot('acme')) ?? {}
    const bytes = JSON.stringify(snapshot).length
    const certificates = LIMITS.certificateBytesPerTenantMax + LIMITS.hostnamesPerTenantMax * 2048
    t.ok(
      bytes > 200_000 && bytes + certificates < LIMITS.snapshotBytesMax,
      `${bytes} bytes without certificates`,
    )
  },
)

void t.test('nesting is read to its limit and refused beyond it', (t) => {
  const nested = (depth: number) => Buffer.from('['.repeat(depth) + ']'.repeat(depth))
  t.doesNotThrow(() => parseStrictJson(nested(LIMITS.jsonDepthMax)))
  t.throws(() => parseStrictJson(nested(LIMITS.jsonDepthMax + 1)), { code: 'body_not_json' })
  const text = JSON.stringify({ a: '{[{['.repeat(100), b: '\\"{', '"{': ['a', { a: 1 }, { a: 2 }] })
  t.strictSame(parseStrictJson(Buffer.from(text)), JSON.parse(text), 'brackets in text are text')
  t.end()
})

void t.test(
  'values are counted to their limit, and refused beyond it before they are made',
  (t) => {
    const most = LIMITS.jsonValuesMax
    const inner = most - 2 // beside the object and its list
    const list = (values: readonly string[]) => Buffer.from(`{"a":[${values.join(',')}]}`)
    const of = (value: string, count: number) => list(Array.from({ length: count }, () => value))
    for (const value of ['0', '"[{,"', '"\\",["', '"\\\\"'])
      for (const [count, isTaken] of [
        [inner, true],
        [inner + 1, false],
      ] as const) {
        const parse = () => parseStrictJson(of(value, count))
        if (isTaken) t.doesNotThrow(parse, `${count} of ${value}`)
        else t.throws(parse, { code: 'body_too_large' }, `${count} of ${value}`)
      }
    const keys = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":0`).join(',')
    t.doesNotThrow(() => parseStrictJson(list([`{${keys(inner - 1)}}`])))
    t.throws(() => parseStrictJson(list([`{${keys(inner)}}`])), { code: 'body_too_large' })
    t.throws(() => parseStrictJson(of('x', most)), { code: 'body_too_large' }, 'JSON or not')
    t.throws(() => parseStrictJson(of('{}', most)), { code: 'body_too_large' })
    t.end()
  },
)

void t.test('long text ends where it ends, whatever is escaped in it', (t) => {
  for (let length = 25; length < 45; length++)
    for (const end of ['', '\\', '"', '\\"', '\\\\"[{,', 'x'.repeat(40) + '\\\\\\"'])
      for (const behind of ['', '"', 'y'.repeat(33)]) {
        const value = { a: 'x'.repeat(length) + end + behind, b: ['{', { c: 0 }] }
        const text = JSON.stringify(value)
        t.same(parseStrictJson(Buffer.from(text)), value, text)
        t.same(parseStrictJson(Buffer.from(text), false, 6), value, 'and so many values')
        t.throws(() => parseStrictJson(Buffer.from(text), false, 5), { code: 'body_too_large' })
        const twice = `${text.slice(0, -1)},"b":0}`
        t.throws(() => parseStrictJson(Buffer.from(twice)), { code: 'field_invalid' })
      }
  for (const open of ['"', '"'.padEnd(60, 'x'), `"${'\\'.repeat(60)}`])
    t.throws(() => parseStrictJson(Buffer.from(`{"a":${open}`)), { code: 'body_not_json' })
  t.end()
})

void t.test('an element that is spoilt is looked into no further', (t) => {
  const { parse } = JSON
  let parsed = 0
  JSON.parse = (...given: Parameters<typeof parse>) => {
    parsed++
    return parse(...given) as unknown
  }
  t.teardown(() => void (JSON.parse = parse))
  const bad = `{${Array.from({ length: 1000 }, () => '"__proto__":{"a":0}').join(',')}}`
  const text = `{"events":[${bad},{"b":1},{"c":1,"c":2,"d":3},{"e":4}]}`
  const value = parseStrictJson(Buffer.from(text), true)
  t.strictSame(value, { events: [null, { b: 1 }, null, { e: 4 }] })
  t.equal(parsed, ['the text', 'events', '__proto__', 'b', 'c', 'c', 'e'].length)
  t.end()
})

/** What takes the square of such a length does not come to its end before this file has to. */
void t.test('a body of one long text costs no more than its length', (t) => {
  for (const text of [
    `"${'x'.repeat(8_000_000)}"`,
    `"${'\\"'.repeat(4_000_000)}"`,
    ' '.repeat(8_000_000) + '1',
  ])
    t.doesNotThrow(() => parseStrictJson(Buffer.from(text)))
  t.end()
})

void t.test('who has shown nothing has little to say', async (t) => {
  const { call } = await startApi(t)
  const most = LIMITS.strangersBodyBytesMax
  for (const [path, body] of [
    ['/agent/v1/nonce', '{"device_id":"dev_0123456789abcdef"}'],
    ['/api/v1/connector/challenge', '{"connector_id":"con_0123456789abcdef"}'],
    ['/api/v1/cli/device-codes', '{"machine":"kims-laptop"}'],
  ] as const) {
    const sent = async (bytes: number) =>
      (await call('POST', path, undefined, { key: null, raw: body.padEnd(bytes) })).status
    t.match(await sent(most), /^20[01]$/, path)
    t.equal(await sent(most + 1), 413, path)
  }
})

void t.test('an origin, a key and a cursor are read to their limits', async (t) => {
  const { operator, tenant, call } = await startApi(t)
  await tenant('acme')
  const host = (length: number) => `http://${'a.'.repeat(length)}`.slice(0, length - 1) + 'a'
  const patch = (origin: string) => operator('PATCH', '/tenants/acme', { origin })
  const labels = host(LIMITS.originCharactersMax)
  t.equal((await patch(labels)).status, 200)
  t.equal((await patch(host(LIMITS.originCharactersMax + 1))).status, 400)
  for (const length of [LIMITS.secretCharactersMax, LIMITS.secretCharactersMax + 1])
    t.equal(
      (await call('GET', '/api/v1/verify/status', undefined, { key: 'k'.repeat(length) })).status,
      401,
    )
})

void t.test('verifications have a rate of their own', async (t) => {
  const { tenant, call } = await startApi(t)
  const { analyzer_key: key } = await tenant('acme')
  const probe = () => call('POST', '/api/v1/verify/probe', undefined, { key })
  for (let count = 0; count < LIMITS.rateProbe.burst; count++) t.equal((await probe()).status, 409)
  const limited = await probe()
  t.match(limited, { status: 429, body: { error: 'rate_limited' } })
  t.equal(limited.headers.get('retry-after'), String(1 / LIMITS.rateProbe.perSecond))
})

void t.test('public and operator calls have rates, per address', async (t) => {
  const { call, operator } = await startApi(t)
  const contract = (address: string) =>
    call('GET', '/api/v1/contract', undefined, { key: null, address })
  for (let count = 0; count < LIMITS.ratePublic.burst; count++) await contract('192.0.2.1')
  t.equal((await contract('192.0.2.1')).status, 429)
  t.equal((await contract('192.0.2.2')).status, 200)
  for (let count = 0; count < LIMITS.rateOperator.burst; count++) await operator('GET', '/gateways')
  t.equal((await operator('GET', '/gateways')).status, 429)
  t.equal((await operator('GET', '/gateways', undefined, { address: '192.0.2.2' })).status, 200)
})
