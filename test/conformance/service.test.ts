/** The service's own addresses: on the way in, on the way out, and where they lead. */
import t from 'tap'
import { safeReturnTo } from '../../shared/enforcement/return-to.ts'
import { LIMITS } from '../../shared/limits.ts'
import { deriveKey } from '../../shared/enforcement/seen.ts'
import { openFlow } from '../../shared/sign-in/flow.ts'
import type { Case } from './case.ts'
import { runTable } from './table.ts'
import { AS, CLIENT_SECRET, headOf, HOST, startWorld } from './world.ts'

/** Where a sign-in must never lead, and what it leads to instead. */
const OPEN_REDIRECTS = [
  '//evil.test',
  '/\\evil.test',
  '\\\\evil.test',
  '/%09/evil.test',
  '///evil.test',
  '/..//evil.test',
  '/%2e%2e//evil.test',
  '/%2f/evil.test',
  '/%5cevil.test',
  'https://evil.test/',
  'http:evil.test',
  'javascript:alert(1)',
  'data:text/html,x',
  '@evil.test',
  `.${HOST}.evil.test`,
  '/service/logout',
  '/service/login',
  '',
]
const OWN_PATHS = ['/', '/work?x=1&y=%2F', '/service/me', '/a%20b#c']

t.test('/service/login', async (t) => {
  const world = await startWorld(t)
  const flowKey = deriveKey(CLIENT_SECRET, 'flow')
  const login = (query: string) => headOf({ target: `/service/login${query}`, as: 'navigation' })
  const begun = { outcome: 'service_302', cookies: ['service_flow_<id>'] } as const
  const queries = [...OPEN_REDIRECTS, ...OWN_PATHS].map(
    (returnTo) => `?returnTo=${encodeURIComponent(returnTo)}`,
  )
  await runTable(t, world.targets, [
    { name: 'without a way back', ask: login(''), required: begun },
    ...queries.map((query): Case => ({ name: query, ask: login(query), required: begun })),
    { name: 'a way back given twice', ask: login('?returnTo=/a&returnTo=/b'), required: begun },
    { name: 'nonsense', ask: login('?%zz&=&returnTo'), required: begun },
  ])
  // the way back is sealed into the cookie, so it is opened to see where it leads
  for (const target of world.targets)
    for (const query of queries) {
      const { headers } = await target.ask(login(query))
      const cookie = headers.find(([name]) => name === 'set-cookie')?.[1] ?? ''
      const sealed = /^service_flow_[^=]+=([^;]+)/.exec(cookie)?.[1] ?? ''
      const returnTo = openFlow(sealed, [flowKey], world.nowSeconds())?.returnTo
      const wished = new URLSearchParams(query).get('returnTo') ?? ''
      const isOwn = OWN_PATHS.includes(wished)
      t.equal(returnTo, isOwn ? wished : '/', `${target.name}: ${query} leads to ${returnTo}`)
      t.equal(returnTo, safeReturnTo(wished))
    }
  const hops = (count: number) =>
    headOf({ target: '/service/login', as: 'navigation', cookie: `service_hops=${count}` })
  const flows = Array.from({ length: 6 }, (_, index) => `service_flow_00abcd${index}12345678901=x`)
  await runTable(t, world.targets, [
    { name: 'the eighth round', ask: hops(7), required: begun },
    {
      name: 'a loop ends on a page',
      ask: hops(8),
      required: { outcome: 'service_508', reason: 'no_session', cookies: ['-service_hops'] },
    },
    {
      name: 'no more than five ways back at a time',
      ask: headOf({ target: '/service/login', as: 'navigation', cookie: flows.join('; ') }),
      required: {
        outcome: 'service_302',
        cookies: ['-service_flow_<id>', '-service_flow_<id>', 'service_flow_<id>'],
      },
    },
    ...['POST', 'PUT', 'DELETE', 'OPTIONS'].map((method): Case => ({
      name: `${method} /service/login`,
      ask: headOf({ method, target: '/service/login', lines: ['Content-Length: 0'] }),
      required: { outcome: 'service_405', reason: 'method_not_allowed' },
    })),
    {
      name: 'HEAD /service/login',
      ask: headOf({ method: 'HEAD', target: '/service/login' }),
      required: begun,
    },
    {
      name: 'signed in already',
      ask: headOf({ target: '/service/login', as: 'navigation', cookie: world.session() }),
      required: begun,
    },
  ])
})

t.test(
  'where the licence blocks it nobody signs in anew, and who is signed in stays',
  async (t) => {
    const world = await startWorld(t, { state: { licence_blocks_signin: true } })
    const login = { target: '/service/login?returnTo=/a', as: 'navigation' } as const
    await runTable(t, world.targets, [
      { name: 'nobody', ask: headOf(login), required: { outcome: 'service_403' } },
      {
        name: 'who is signed in',
        ask: headOf({ ...login, cookie: world.session() }),
        required: { outcome: 'service_303', location: '/a' },
      },
      {
        name: 'a page with a session',
        ask: headOf({ cookie: world.session() }),
        required: { outcome: 'forward' },
      },
    ])
  },
)

t.test('over TLS the cookies are those that only TLS carries', async (t) => {
  const world = await startWorld(t, { address: `https://${HOST}` })
  await runTable(t, world.targets, [
    {
      name: 'a flow',
      ask: headOf({ target: '/service/login', as: 'navigation' }),
      required: { outcome: 'service_302', cookies: ['__Host-service_flow_<id>'] },
    },
    {
      name: 'a companion',
      ask: headOf({ cookie: world.session({ seenAgoSeconds: 30 }) }),
      required: { outcome: 'forward', cookies: ['__Host-service_seen'] },
    },
    {
      name: 'a script is told where to sign in',
      ask: headOf({}),
      required: { outcome: 'sign_in_401' },
    },
  ])
})

t.test('/service/callback', async (t) => {
  const world = await startWorld(t)
  const id = '00abcde12345678901a'
  const queries = [
    '',
    '?code=x',
    '?code=x&state=',
    `?code=x&state=${id}.x`,
    `?code=x&state=${id}.x&state=${id}.y`,
    '?error=access_denied',
    '?state=%00%0d%0a',
    '?code=x&state=../../x',
    '?state=__proto__',
  ]
  const callback = (query: string, cookie = '', method = 'GET') =>
    headOf({ method, target: `/service/callback${query}`, as: 'navigation', cookie })
  await runTable(t, world.targets, [
    ...queries.flatMap((query): Case[] => [
      {
        name: `nobody: ${query}`,
        ask: callback(query),
        required: {
          outcome: 'service_303',
          location: '/service/login?returnTo=%2F',
          cookies: ['service_hops'],
        },
      },
      {
        name: `with a flow that is none: ${query}`,
        ask: callback(query, `service_flow_${id}=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA`),
        required: { outcome: 'service_303', location: '/service/login?returnTo=%2F' },
      },
      {
        name: `signed in: ${query}`,
        ask: callback(query, world.session()),
        required: { outcome: 'service_303', location: '/', cookies: [] },
      },
    ]),
    {
      name: 'POST',
      ask: callback('?code=x', '', 'POST'),
      required: { outcome: 'service_405', reason: 'method_not_allowed' },
    },
  ])
})

t.test('a flow asks the realm once, whatever comes with it later', async (t) => {
  const world = await startWorld(t)
  const begin = async (target: (typeof world.targets)[number]) => {
    const { headers } = await target.ask(headOf({ target: '/service/login', as: 'navigation' }))
    const valueOf = (wanted: string) => headers.find(([name]) => name === wanted)?.[1] ?? ''
    const state = new URL(valueOf('location')).searchParams.get('state') ?? ''
    return { state, cookie: valueOf('set-cookie').split(';', 1)[0] ?? '' }
  }
  const callback = (query: string, cookie: string) =>
    headOf({ target: `/service/callback?${query}`, as: 'navigation', cookie })
  for (const target of world.targets) {
    const { state, cookie } = await begin(target)
    const asked = world.service.control.exchanges
    const first = await target.ask(callback(`code=a&state=${state}`, cookie))
    t.match([first.status, first.body], [400, /sign_in_incomplete/], target.name)
    for (const query of [
      `code=a&state=${state}`,
      `code=b&state=${state}`,
      `error=x&state=${state}`,
    ]) {
      const again = await target.ask(callback(query, cookie))
      t.equal(again.status, 303, `${target.name}: ${query}`)
    }
    t.equal(world.service.control.exchanges, asked + 1, target.name)
    const ended = await begin(target)
    const refused = await target.ask(callback(`error=x&state=${ended.state}`, ended.cookie))
    t.equal(refused.status, 400)
    t.equal((await target.ask(callback(`code=a&state=${ended.state}`, ended.cookie))).status, 303)
    t.equal(world.service.control.exchanges, asked + 1, `${target.name}: nor after an error`)

    world.service.control.exchangeStatus = 503
    const { state: late, cookie: kept } = await begin(target)
    const busy = await target.ask(callback(`code=a&state=${late}`, kept))
    t.match([busy.status, busy.body], [503, /sign_in_unavailable.*/s], `${target.name}: it is busy`)
    t.match(busy.body, 'href="/service/login?returnTo=%2F"')
    t.match(Object.fromEntries(busy.headers), { 'retry-after': '5' })
    world.service.control.exchangeStatus = 400
  }
})

t.test('a client that comes back too often waits, and its flow is still good then', async (t) => {
  const world = await startWorld(t)
  for (const target of world.targets.slice(0, 2)) {
    const begin = async (answer = 'code=x') => {
      const begun = await target.ask(headOf({ target: '/service/login', as: 'navigation' }))
      const valueOf = (wanted: string) => begun.headers.find(([name]) => name === wanted)?.[1] ?? ''
      const state = new URL(valueOf('location')).searchParams.get('state') ?? ''
      const cookie = valueOf('set-cookie').split(';', 1)[0] ?? ''
      const path = `/service/callback?${answer}&state=${state}`
      return headOf({ target: path, cookie, as: 'navigation' })
    }
    for (let count = 0; count <= LIMITS.rateCallback.burst; count++) {
      const ended = await begin(count % 2 === 0 ? 'error=x' : 'error=x&error=y&code=z')
      t.equal((await target.ask(ended)).status, 400, 'the realm was not asked')
    }
    const used = await begin()
    t.equal((await target.ask(used)).status, 400)
    for (let count = 1; count <= LIMITS.rateCallback.burst; count++)
      t.equal((await target.ask(used)).status, 303, 'a used flow takes nothing from anybody')
    for (let count = 2; count <= LIMITS.rateCallback.burst; count++)
      t.equal((await target.ask(await begin())).status, 400)
    const ask = await begin()
    const next = await target.ask(headOf({ target: '/service/login', as: 'navigation' }))
    t.equal(next.status, 302)
    const { status, headers } = await target.ask(ask)
    t.equal(status, 429, target.name)
    t.ok(headers.some(([name, value]) => name === 'retry-after' && value === '1'))
  }
})

// what it answers to whoever is signed in differs: languages.test.ts
t.test('/service/me is nobody’s without a session', async (t) => {
  const world = await startWorld(t)
  await runTable(
    t,
    world.targets,
    AS.map((as): Case => ({
      name: `nobody · ${as}`,
      ask: headOf({ target: '/service/me', as }),
      required: { outcome: as === 'fetch' ? 'sign_in_401' : 'sign_in_redirect' },
    })),
  )
})

t.test('what only looks like one of these addresses is a path like any other', async (t) => {
  const world = await startWorld(t)
  const paths = ['/service', '/service/', '/service/login/', '/service/Login', '/service/x', '/service/login/x', '/service//login', '/x/service/login'] // prettier-ignore
  await runTable(
    t,
    world.targets,
    paths.flatMap((target): Case[] => [
      { name: `${target} · nobody`, ask: headOf({ target }), required: { outcome: 'sign_in_401' } },
      {
        name: `${target} · signed in`,
        ask: headOf({ target, cookie: world.session() }),
        required: { outcome: 'forward', application: { target } },
      },
    ]),
  )
})
