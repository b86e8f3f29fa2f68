/** `/service/logout`: what it ends, and whom it asks first. */
import t from 'tap'
import type { Case } from './case.ts'
import { runTable } from './table.ts'
import { headOf, HOST, startWorld } from './world.ts'

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
      name: 'a session that was issued by a clock ahead',
      ask: headOf({
        target: '/service/logout',
        as: 'navigation',
        cookie: world.session({ sid: 'ahead', issuedAgoSeconds: -30 }),
      }),
      required: out,
    },
    {
      name: 'ahead is signed out',
      ask: headOf({ cookie: world.session({ sid: 'ahead', issuedAgoSeconds: -30 }) }),
      required: { outcome: 'sign_in_401', reason: 'sign_in_required: revoked' },
    },
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
