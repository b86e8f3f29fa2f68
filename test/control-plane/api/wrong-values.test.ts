/** Values that only one field knows to be wrong; what is wrong anywhere is in bad-input.test.ts. */
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { newTenant, startApi } from '../../support/api.ts'

/** Endpoints with a body that each takes, and the wrong values of its fields. */
const BODIES: readonly {
  method: string
  path: string
  good: Record<string, unknown>
  wrong: Record<string, readonly unknown[]>
}[] = [
  {
    method: 'POST',
    path: '/tenants',
    good: newTenant('fresh'),
    wrong: {
      tenant_id: ['', 'A', 'a_b', '-a', 'a-', 'a'.repeat(64), 'console', '../x', 1, null, ['a']],
      name: ['', ' ', 'a\u0000b', 'x'.repeat(201), '\ud800', 7, null],
      mode: ['edge', '', 1, null],
      plan: ['gold', 1, null],
      hostnames: [
        'acme.localhost',
        [],
        [1],
        [''],
        ['a b'],
        ['a..b'],
        ['.a'],
        ['a.'],
        ['*.example.com'],
        ['a_b.example'],
        ['127.0.0.1'],
        ['10.1'],
        ['exämple.com'],
        ['a.example:80'],
        ['http://a.example'],
        ['a.example/x'],
        [`${'a'.repeat(64)}.example`],
        ['twice.example', 'TWICE.example'],
        Array.from({ length: LIMITS.hostnamesPerTenantMax + 1 }, (_, index) => `h${index}.example`),
      ],
      origin: [
        '',
        'a.example',
        'ftp://a.example',
        'http://a.example/path',
        'http://a.example?x',
        'http://a.example#x',
        'http://user:secret@a.example',
        'http://a.example:0',
        'http://a.example:99999',
        'http:a.example',
        'http:\\\\a.example',
        'http://a.example\\@b.example',
        'http://a b.example',
        'http://a.example\n',
        ' http://a.example',
        'http://',
        'http://[::1',
        'javascript:alert(1)',
        1,
        null,
      ],
      sealed: [
        '/admin',
        ['admin'],
        [''],
        ['/a?b'],
        ['/a#b'],
        ['/a%2fb'],
        ['/a//b'],
        ['//a'],
        ['/../a'],
        ['/a/./b'],
        ['/a\\b'],
        ['/a;b'],
        ['/a\r\nb'],
        ['/é'],
        [1],
        [null],
        ['/' + 'a'.repeat(LIMITS.pathPrefixBytesMax)],
        Array.from({ length: LIMITS.pathPrefixesPerTenantMax + 1 }, (_, index) => `/p${index}`),
      ],
      excluded: ['/', ['x'], ['/a%20b'], ['/a/..'], ['/_next'], ['/docs/_next/data'], null],
      health: ['health', '/a?b', '/a/../b', '//x', '', 1, null],
      max_session_seconds: [0, -1, 1.5, '60', 1e12, null, Infinity],
      idle_seconds: [0, 0.5, '1', LIMITS.sessionSecondsMax + 1, null],
      session_binding: ['on', true, null],
    },
  },
  {
    method: 'PATCH',
    path: '/tenants/acme',
    good: { name: 'Acme' },
    wrong: {
      name: ['', 1],
      mode: ['x'],
      hostnames: [[], 'x', ['A B']],
      origin: ['http://x/y'],
      sealed: [['x']],
      excluded: [['/%41']],
      health: ['x'],
      max_session_seconds: [0],
      idle_seconds: ['1'],
      session_binding: ['none'],
      tenant_id: ['other'],
      plan: ['free'],
      status: ['published'],
      protection: ['on'],
    },
  },
  {
    method: 'POST',
    path: '/tenants/acme/go-live',
    good: { force: true },
    wrong: { force: ['yes', 1, null] },
  },
  {
    method: 'PUT',
    path: '/tenants/acme/licence',
    good: { state: 'grace', blocks_signin: false },
    wrong: { state: ['', 'on', 1, null], blocks_signin: ['no', 0, null] },
  },
  {
    method: 'PUT',
    path: '/tenants/acme/plan',
    good: { plan: 'premium' },
    wrong: { plan: ['', 'gold', 1, null, ['free']] },
  },
  {
    method: 'POST',
    path: '/tenants/acme/keys/rotate',
    good: { phase: 'prepare' },
    wrong: {
      phase: ['', 'next', 1, null],
      private_key_pem: ['', 'x', 1, null, 'x'.repeat(LIMITS.privateKeyBytesMax + 1)],
      force: ['yes'],
    },
  },
  {
    method: 'PUT',
    path: '/tenants/acme/certificates/acme.localhost',
    good: { certificate_pem: 'x', private_key_pem: 'y' },
    wrong: { certificate_pem: [1, null, 'x'.repeat(LIMITS.certificateBytesMax + 1)] },
  },
  {
    method: 'POST',
    path: '/tenants/acme/users',
    good: { username: 'bob', email: 'bob@example.test', name: 'Bob', password: 'long enough' },
    wrong: {
      username: ['', ' ', ' bob', 'a\tb', 'x'.repeat(101), 'eve@example.test', 1, null],
      email: ['', 'bob', '@x', 'a@', 'a b@c', 'a@b@c', `${'a'.repeat(251)}@b.c`, 1, null],
      name: ['', 1, '\u0007'],
      password: ['', 'short', 'x'.repeat(LIMITS.passwordBytesMax + 1), 12345678, null],
    },
  },
  {
    method: 'POST',
    path: '/tenants/acme/revocations',
    good: { all: true },
    wrong: { all: [false, 1, 'true', null], subject: ['', 1, 'a b', null], sid: ['', 1, 'a\n'] },
  },
]

void t.test('a wrong value is 400, names the field, and changes nothing', async (t) => {
  const { operator, tenant, services } = await startApi(t)
  await tenant('acme')
  const revision = await services.store.revision()
  for (const { method, path, good, wrong } of BODIES)
    for (const [field, values] of Object.entries(wrong))
      for (const value of values) {
        const answer = await operator(method, path, { ...good, [field]: value })
        const name = `${method} ${path}: ${field} = ${String(JSON.stringify(value)).slice(0, 60)}`
        t.match(answer, { status: 400, body: { error: 'field_invalid', detail: /./, field } }, name)
      }
  t.equal(await services.store.revision(), revision, 'nothing has changed')
  t.equal((await operator('GET', '/audit')).items.length, 1, 'and nothing was noted')
})

void t.test('exactly one target is revoked at a time', async (t) => {
  const { operator, tenant } = await startApi(t)
  await tenant('acme')
  for (const body of [{}, { all: true, sid: 'x' }, { subject: 'x', sid: 'x' }]) {
    const answer = await operator('POST', '/tenants/acme/revocations', body)
    t.match(answer, { status: 400, body: { error: 'field_invalid' } }, JSON.stringify(body))
  }
})

void t.test('a body of exactly the limit is read', async (t) => {
  const { operator } = await startApi(t)
  const body = JSON.stringify(newTenant('acme'))
  const padded = body + ' '.repeat(LIMITS.jsonBodyBytesMax - body.length)
  t.equal((await operator('POST', '/tenants', undefined, { raw: padded })).status, 201)
  const over = await operator('POST', '/tenants', undefined, { raw: `${padded} ` })
  t.equal(over.status, 413)
})

void t.test('wrong pages are refused, of every list', async (t) => {
  const { operator, tenant } = await startApi(t)
  await tenant('acme')
  const cursor = (text: string) => `cursor=${Buffer.from(text).toString('base64url')}`
  for (const list of ['/tenants', '/tenants/acme/users', '/tenants/acme/sessions', '/audit'])
    for (const query of [
      'limit=0',
      'limit=-1',
      'limit=1.5',
      'limit=x',
      'limit=',
      `limit=${LIMITS.pageItemsMax + 1}`,
      'limit=1&limit=2',
      'cursor=x',
      'cursor=',
      cursor('[1,2,3]'),
      'cursor=a&cursor=b',
      `cursor=${'x'.repeat(LIMITS.cursorCharactersMax + 1)}`,
    ]) {
      const answer = await operator('GET', `${list}?${query}`)
      t.match(answer, { status: 400, body: { error: 'query_invalid' } }, `${list}?${query}`)
    }
  t.equal((await operator('GET', `/tenants?limit=${LIMITS.pageItemsMax}`)).status, 200)
  for (const list of ['/audit', '/audit?tenant_id=acme', '/tenants/acme/enforcement-events'])
    for (const key of ['[1.5]', '[-1e308]', '[9007199254740993]']) {
      const query = `${list.includes('?') ? '&' : '?'}${cursor(key)}`
      const answer = await operator('GET', `${list}${query}`)
      t.match(answer, { status: 400, body: { field: 'cursor' } }, `${list} behind ${key}`)
    }
})

void t.test('what is named in a path and holds a NUL is not there', async (t) => {
  const { operator, tenant } = await startApi(t)
  await tenant('acme')
  for (const [method, path, body] of [
    ['DELETE', 'address-blocks/%00'],
    ['DELETE', 'users/%00'],
    ['PATCH', 'users/a%00b', { disabled: true }],
    ['DELETE', 'webhooks/%00'],
    ['POST', 'devices/%00/revoke', {}],
    ['DELETE', 'device-tickets/%00'],
    ['DELETE', 'connectors/%00'],
  ] as const)
    t.match(await operator(method, `/tenants/acme/${path}`, body), { status: 404 }, path)
})
