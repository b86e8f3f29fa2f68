/** The service's own addresses: on the way in, on the way out, and where they lead. */
import t from 'tap'
import { safeReturnTo } from '../../shared/enforcement/return-to.ts'
import { deriveKey } from '../../shared/enforcement/seen.ts'
import { openFlow } from '../../shared/sign-in/flow.ts'
import { runTable, type Case } from './table.ts'
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

t.test('a session that was tossed in from a sibling host signs nobody in', async (t) => {
  const world = await startWorld(t, { address: `https://${HOST}` })
  const [own, tossed] = [world.session({ sid: 'own' }), world.session({ sid: 'evil', sub: 'eve' })]
  const plain = tossed.replace('__Host-', '')
  const [ownToken = '', ownSeen = ''] = own.split('; ')
  const [tossedToken = '', tossedSeen = ''] = tossed.split('; ')
  const asked = (cookie: string, reason: string): Case => ({
    name: reason,
    ask: headOf({ cookie }),
    required: { outcome: 'sign_in_401', reason: `sign_in_required: ${reason}`, application: null },
  })
  await runTable(t, world.targets, [
    asked(plain, 'seen_missing'),
    asked(`${tossedToken}; ${ownSeen}`, 'seen_missing'),
    asked(`${tossedToken}; ${tossedSeen.replace('__Host-', '')}; ${ownSeen}`, 'seen_missing'),
    asked(`${ownToken}; ${ownSeen}; ${tossedToken}`, 'session_repeated'),
    asked(`${tossedToken}; ${ownToken}; ${ownSeen}`, 'session_repeated'),
    asked(`${ownToken}; ${ownSeen}; ${tossedSeen}`, 'seen_missing'),
    {
      name: 'one’s own, beside a companion that anybody can set',
      ask: headOf({ cookie: `${own}; ${plain.split('; ')[1]}` }),
      required: { outcome: 'forward', application: { user: 'ada', cookies: ownToken } },
    },
    {
      name: 'a hop counter that anybody can set',
      ask: headOf({ target: '/service/login', as: 'navigation', cookie: 'service_hops=8' }),
      required: { outcome: 'service_302' },
    },
    {
      name: 'one’s own loop',
      ask: headOf({ target: '/service/login', as: 'navigation', cookie: '__Host-service_hops=8' }),
      required: { outcome: 'service_508', cookies: ['-__Host-service_hops'] },
    },
  ])
})

t.test('two session cookies end in one clear sign-in', async (t) => {
  for (const scheme of ['http', 'https']) {
    const world = await startWorld(t, { address: `${scheme}://${HOST}` })
    const [token = ''] = world.session().split('; ')
    const cookie = `${world.session()}; ${token}`
    const end = scheme === 'https' ? '; Secure' : ''
    const ended = (path: string) =>
      ['', `; Domain=${HOST}`].map((domain) => `set-cookie: service_session=; Path=${path}; Max-Age=0${domain}${end}`) // prettier-ignore
    for (const target of world.targets) {
      for (const as of AS) {
        const { headers } = await target.ask(headOf({ target: '/a/b;Domain=x?y', as, cookie }))
        const lines = headers.map(([name, value]) => `${name}: ${value}`)
        for (const path of ['/', '/a', '/a/', '/a/b'])
          for (const line of ended(path))
            t.ok(lines.includes(line), `${target.name}: ${as}: ${line}`)
        t.equal(lines.join().includes('Domain=x'), false)
        if (scheme === 'https') t.match(lines.join('\n'), /; Secure; Partitioned$/m)
      }
      const login = await target.ask(headOf({ target: '/service/login', as: 'navigation', cookie }))
      t.equal(login.status, 302)
      const lines = login.headers.map(([name, value]) => `${name}: ${value}`)
      for (const path of ['/', '/service', '/service/'])
        for (const line of ended(path)) t.ok(lines.includes(line), `${target.name}: ${line}`)
      t.match(lines.join(), /service_flow_/)
    }
  }
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

t.test('/service/logout', async (t) => {
  const world = await startWorld(t)
  const logout = (sid: string, head: Parameters<typeof headOf>[0]) =>
    headOf({ target: '/service/logout', cookie: world.session({ sid }), ...head })
  const stays = (sid: string): Case => ({
    name: `${sid} is signed in still`,
    ask: headOf({ cookie: world.session({ sid }) }),
    required: { outcome: 'forward' },
  })
  const isOver = (sid: string): Case => ({
    name: `${sid} is signed out`,
    ask: headOf({ cookie: world.session({ sid }) }),
    required: { outcome: 'sign_in_401', reason: 'sign_in_required: revoked' },
  })
  const cleared = ['-service_session', '-service_seen', '-service_hops']
  const out = { outcome: 'service_303', cookies: cleared } as const
  const question = { outcome: 'service_200', reason: 'confirm_logout', cookies: [] } as const
  await runTable(t, world.targets, [
    { name: 'a person', ask: logout('a', { as: 'navigation' }), required: out },
    isOver('a'),
    {
      name: 'a form of this site',
      ask: logout('b', {
        method: 'POST',
        as: 'navigation',
        lines: ['Sec-Fetch-Site: same-origin', 'Content-Length: 0'],
      }),
      required: out,
    },
    isOver('b'),
    {
      name: 'a link on another site',
      ask: logout('c', { as: 'navigation', lines: ['Sec-Fetch-Site: cross-site'] }),
      required: question,
    },
    {
      name: 'a form on another site',
      ask: logout('c', {
        method: 'POST',
        as: 'navigation',
        lines: ['Sec-Fetch-Site: cross-site', 'Content-Length: 0'],
      }),
      required: question,
    },
    { name: 'an image, in an old browser', ask: logout('c', { as: 'fetch' }), required: question },
    stays('c'),
    {
      name: 'nobody',
      ask: headOf({ target: '/service/logout', as: 'navigation' }),
      required: { outcome: 'service_200', reason: 'signed_out', cookies: cleared },
    },
    {
      name: 'a forged session',
      ask: headOf({ target: '/service/logout', as: 'navigation', cookie: 'service_session=a.b.c' }),
      required: { outcome: 'service_200', reason: 'signed_out', cookies: cleared },
    },
    {
      name: 'a session that is over anyway',
      ask: headOf({
        target: '/service/logout',
        as: 'navigation',
        cookie: world.session({ sid: 'd', issuedAgoSeconds: 9000 }),
      }),
      required: out,
    },
    {
      name: 'PUT',
      ask: logout('c', { method: 'PUT', lines: ['Content-Length: 0'] }),
      required: { outcome: 'service_405', reason: 'method_not_allowed' },
    },
    stays('c'),
  ])
})

t.test('nobody is signed out who has not asked for it', async (t) => {
  const world = await startWorld(t)
  const ORIGIN = `http://${HOST}`
  const of = (sid: string, lines: readonly string[], method = 'GET') =>
    headOf({
      method,
      target: '/service/logout',
      cookie: world.session({ sid }),
      lines: [...lines, ...(method === 'POST' ? ['Content-Length: 0'] : [])],
    }).replace(/Accept: .*\r\nSec-Fetch-Mode: .*\r\n/, '')
  const page = 'Accept: text/html,*/*'
  const fetched = (site: string, mode: string, destination: string) => [
    `Sec-Fetch-Site: ${site}`,
    `Sec-Fetch-Mode: ${mode}`,
    `Sec-Fetch-Dest: ${destination}`,
  ]
  const link = fetched('same-origin', 'navigate', 'document')
  const asked: [string, readonly string[], string?][] = [
    ['an image on one’s own page', fetched('same-origin', 'no-cors', 'image')],
    ['an image on a sibling host', fetched('same-site', 'no-cors', 'image')],
    ['a link on a sibling host', fetched('same-site', 'navigate', 'document')],
    ['a link on another site', fetched('cross-site', 'navigate', 'document')],
    ['a frame', fetched('same-origin', 'navigate', 'iframe')],
    ['a fetch of one’s own page', fetched('same-origin', 'cors', 'empty')],
    ['a prerender', [...link, 'Sec-Purpose: prefetch;prerender']],
    ['a prefetch of old', [page, `Referer: ${ORIGIN}/`, 'X-Moz: prefetch']],
    ['an old browser that does not say from where', [page]],
    ['an old browser, from a sibling host', [page, 'Referer: http://evil.localhost/x']],
    ['an old browser, from a name that only begins alike', [page, `Referer: ${ORIGIN}.evil.test/`]],
    ['an image of an old browser', ['Accept: image/*,*/*', `Referer: ${ORIGIN}/`]],
    ['a form on a sibling host', fetched('same-site', 'navigate', 'document'), 'POST'],
    ['a form on another site', fetched('cross-site', 'navigate', 'document'), 'POST'],
    [
      'a form on a sibling host, in an old browser',
      [page, 'Origin: http://evil.localhost'],
      'POST',
    ],
    ['a form in a sandbox', [page, 'Origin: null'], 'POST'],
  ]
  const meant: [string, readonly string[], string?][] = [
    ['a link on one’s own page', link],
    [
      'an address that was typed',
      [...fetched('none', 'navigate', 'document'), 'Sec-Fetch-User: ?1'],
    ],
    ['a link, in an old browser', [page, `Referer: ${ORIGIN}/work?x=1`]],
    ['a form', [...fetched('same-origin', 'navigate', 'document'), 'Origin: null'], 'POST'],
    ['a form, in an old browser', [page, `Origin: ${ORIGIN}`], 'POST'],
    ['a program', [], 'POST'],
  ]
  await runTable(t, world.targets, [
    ...asked.map(([name, lines, method]): Case => ({
      name,
      ask: of('stays', lines, method),
      required: { outcome: 'service_200', reason: 'confirm_logout', cookies: [] },
    })),
    {
      name: 'is signed in still',
      ask: headOf({ cookie: world.session({ sid: 'stays' }) }),
      required: { outcome: 'forward' },
    },
    ...meant.flatMap(([name, lines, method]): Case[] => [
      {
        name,
        ask: of(name.length.toString(), lines, method),
        required: { outcome: 'service_303' },
      },
      {
        name: `${name}: it is over`,
        ask: headOf({ cookie: world.session({ sid: name.length.toString() }) }),
        required: { outcome: 'sign_in_401', reason: 'sign_in_required: revoked' },
      },
    ]),
  ])
  // the page lets its form say where it comes from, and speaks the language of its reader
  for (const target of world.targets) {
    const german = await target.ask(
      of('stays', [page, 'Accept-Language: fr, de-AT;q=0.8, en;q=0.5']),
    )
    t.match(
      german.body,
      /<html lang="de">[^]*Abmelden\?[^]*<form method="post" action="\/service\/logout">/,
    )
    t.ok(
      german.headers.some(([name, value]) => name === 'referrer-policy' && value === 'same-origin'),
    )
    t.match(
      (await target.ask(of('stays', [page, 'Accept-Language: de;q=0.5,en']))).body,
      /lang="en"/,
    )
  }
})

t.test('/service/me is the edge’s, and inside an application nothing', async (t) => {
  const world = await startWorld(t)
  const me = (head: Parameters<typeof headOf>[0]) => headOf({ target: '/service/me', ...head })
  await runTable(t, world.targets, [
    {
      name: 'signed in',
      ask: me({ cookie: world.session() }),
      required: { outcome: 'service_200' },
    },
    ...AS.map((as): Case => ({
      name: `nobody · ${as}`,
      ask: me({ as }),
      required: { outcome: as === 'fetch' ? 'sign_in_401' : 'sign_in_redirect' },
    })),
    {
      name: 'PUT',
      ask: me({ method: 'PUT', cookie: world.session(), lines: ['Content-Length: 0'] }),
      required: { outcome: 'service_405' },
    },
  ])
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
