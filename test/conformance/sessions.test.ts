/** Every state that a session can be in, as a page is opened and as a script asks. */
import t from 'tap'
import { newSigningKey } from '../support/tokens.ts'
import type { SessionWish } from '../support/feed-service.ts'
import type { Case } from './case.ts'
import { expected, runTable, type Sight } from './table.ts'
import { AS, CURRENT, headOf, NEXT, startWorld } from './world.ts'

/** A session in words, its Cookie header, and what comes of it. */
interface SessionState {
  readonly name: string
  readonly cookie: string
  readonly sight: Sight
  readonly lines?: readonly string[]
  readonly userAgent?: string
}

const casesOf = (states: readonly SessionState[]): Case[] =>
  states.flatMap(({ name, cookie, sight, ...rest }) =>
    AS.map((as) => ({
      name: `${name} · ${as}`,
      ask: headOf({ target: '/work?x=1', as, cookie, ...rest }),
      required: expected(sight, as),
    })),
  )

const IN = { user: 'ada' } as const
const asked = (reason: string): Sight => ({ reason })

t.test('a session, good or over', async (t) => {
  const now = Math.floor(Date.now() / 1000)
  const HALF_AN_HOUR_AGO = now - 1800
  const world = await startWorld(t, {
    revoked: {
      subjects: { eve: HALF_AN_HOUR_AGO },
      sids: { lost: HALF_AN_HOUR_AGO },
    },
  })
  const one = (name: string, wish: SessionWish, sight: Sight): SessionState => ({
    name,
    cookie: world.session(wish),
    sight,
  })
  const cookie = world.session()
  const [token = ''] = cookie.split('; ')
  const stranger = newSigningKey('stranger')
  const seen = (wish: SessionWish) => `service_seen=${world.service.seenOf(wish)}`
  const [, sealed = ''] = /service_seen=(.*)$/.exec(cookie) ?? []
  const table: SessionState[] = [
    { name: 'none', cookie: '', sight: asked('no_session') },
    { name: 'another cookie', cookie: 'theme=dark', sight: asked('no_session') },
    one('valid', {}, IN),
    one('its last second', { issuedAgoSeconds: 3599 }, IN),
    one('expired', { issuedAgoSeconds: 3600 }, asked('expired')),
    one('long expired', { issuedAgoSeconds: 9000 }, asked('expired')),
    one('almost too old', { issuedAgoSeconds: 28_799, lifeSeconds: 90_000 }, IN),
    one('too old', { issuedAgoSeconds: 28_800, lifeSeconds: 90_000 }, asked('session_too_old')),
    one('idle for as long as it may be', { seenAgoSeconds: 900 }, IN),
    one('idle a second longer', { seenAgoSeconds: 901 }, asked('idle')),
    one('seen in the future', { seenAgoSeconds: -3600 }, IN),
    { name: 'seen missing', cookie: token, sight: asked('seen_missing') },
    { name: 'seen empty', cookie: `${token}; service_seen=`, sight: asked('seen_missing') },
    {
      name: 'seen of another session',
      cookie: `${token}; ${seen({ sid: 'sid-9' })}`,
      sight: asked('seen_missing'),
    },
    {
      name: 'seen sealed under another secret',
      cookie: `${token}; ${seen({ secret: 'another secret' })}`,
      sight: asked('seen_missing'),
    },
    {
      name: 'seen made younger',
      cookie: `${token}; service_seen=z${sealed.slice(1)}`,
      sight: asked('seen_missing'),
    },
    { name: 'seen twice', cookie: `${cookie}; ${seen({})}`, sight: asked('seen_missing') },
    { name: 'two of the same', cookie: `${cookie}; ${token}`, sight: asked('session_repeated') },
    {
      name: 'two of two users',
      cookie: `${cookie}; ${world.session({ sub: 'bob' })}`,
      sight: asked('session_repeated'),
    },
    {
      name: 'two in two lines',
      cookie,
      lines: [`Cookie: ${token}`],
      sight: asked('session_repeated'),
    },
    { name: 'in two lines', cookie: token, lines: [`Cookie: ${seen({})}`], sight: IN },
    {
      name: 'an empty one and a good one',
      cookie: `service_session=; ${cookie}`,
      sight: asked('session_repeated'),
    },
    one('issued 59 seconds ahead', { issuedAgoSeconds: -59 }, IN),
    one('issued 60 seconds ahead', { issuedAgoSeconds: -60 }, IN),
    one('issued 61 seconds ahead', { issuedAgoSeconds: -61 }, asked('issued_ahead')),
    one('valid from now on', { claims: { nbf: world.nowSeconds() } }, IN),
    one('valid in a second', { claims: { nbf: world.nowSeconds() + 1 } }, asked('not_yet_valid')),
    one('of a revoked user', { sub: 'eve', sid: 'e1', issuedAgoSeconds: 1810 }, asked('revoked')),
    one(
      'of that user, signed in since',
      { sub: 'eve', sid: 'e2', issuedAgoSeconds: 1790 },
      { user: 'eve' },
    ),
    one('revoked by itself', { sid: 'lost', issuedAgoSeconds: 1810 }, asked('revoked')),
    one('of a user like it', { sub: 'eve2', sid: 'e3', issuedAgoSeconds: 1810 }, { user: 'eve2' }),
    one('signed with the next key', { key: NEXT }, IN),
    one('signed with a key of nobody', { key: stranger }, asked('key_unknown')),
  ]
  await runTable(t, world.targets, casesOf(table))
})

t.test('all sessions revoked', async (t) => {
  const now = Math.floor(Date.now() / 1000)
  const world = await startWorld(t, { revoked: { all: now - 1800 } })
  const since = (issuedAgoSeconds: number, sub: string) =>
    world.session({ sub, sid: `${sub}-${issuedAgoSeconds}`, issuedAgoSeconds })
  await runTable(
    t,
    world.targets,
    casesOf([
      { name: 'before', cookie: since(1810, 'ada'), sight: asked('revoked') },
      { name: 'before, of another user', cookie: since(1810, 'bob'), sight: asked('revoked') },
      { name: 'after', cookie: since(1790, 'ada'), sight: IN },
    ]),
  )
})

t.test('the companion cookie is written again where it is due, and only there', async (t) => {
  const world = await startWorld(t)
  const ask = (cookie: string, more: readonly string[] = []) =>
    headOf({ cookie: [cookie, ...more].join('; '), as: 'navigation' })
  const forwarded = { outcome: 'forward', cacheControl: 'private' } as const
  await runTable(t, world.targets, [
    { name: 'just seen', ask: ask(world.session()), required: { ...forwarded, cookies: [] } },
    {
      name: 'seen 29 seconds ago',
      ask: ask(world.session({ seenAgoSeconds: 29 })),
      required: { ...forwarded, cookies: [] },
    },
    {
      name: 'seen 30 seconds ago',
      ask: ask(world.session({ seenAgoSeconds: 30 })),
      required: { ...forwarded, cookies: ['service_seen'] },
    },
    {
      name: 'seen by another client',
      ask: ask(world.session({ userAgent: 'curl/8.1' })),
      required: { ...forwarded, cookies: ['service_seen'] },
    },
    {
      name: 'at the end of a way back and forth',
      ask: ask(world.session(), ['service_hops=3']),
      required: { ...forwarded, cookies: ['-service_hops'] },
    },
    {
      name: 'without a session nothing is private',
      ask: headOf({ target: '/health' }),
      required: { outcome: 'forward', cacheControl: '', cookies: [] },
    },
  ])
})

const CHROME = 'Mozilla/5.0 (Windows NT 10.0) Chrome/140.0'
const FIREFOX_141 = 'Mozilla/5.0 (X11; Linux x86_64; rv:141.0) Firefox/141.0'
/** What cannot be read is not believed, and it is not the load balancer either, which is at home. */
const NOWHERE = { outcome: 'refused_503', reason: 'client_unreadable', application: null } as const
/** Believed, since it comes from a load balancer that is known. */
const from = (address: string) => [`X-Forwarded-For: ${address}`]

t.test('a session that moves', async (t) => {
  for (const binding of ['off', 'step_up', 'terminate'] as const) {
    const world = await startWorld(t, {
      state: { session_binding: binding },
      trustedProxies: ['127.0.0.1'],
    })
    const moved: Sight = binding === 'off' ? IN : asked(`binding_${binding}`)
    const ended: Sight = binding === 'terminate' ? asked('revoked') : moved
    const back: Sight = binding === 'terminate' ? asked('revoked') : IN
    const places = [
      { name: 'to another browser', move: { userAgent: CHROME } },
      { name: 'to another network', move: { lines: from('203.0.113.9') } },
      { name: 'to IPv6', move: { lines: from('2001:db8::1') } },
    ]
    for (const [index, { name, move }] of places.entries()) {
      const cookie = world.session({ sid: `sid-of-${binding}-${index}` })
      await runTable(t, world.targets, [
        ...casesOf([
          { name: `${binding}: stays`, cookie, sight: IN },
          { name: `${binding}: to a newer version`, cookie, userAgent: FIREFOX_141, sight: IN },
          { name: `${binding}: within its network`, cookie, lines: from('127.0.0.200'), sight: IN },
        ]),
        ...AS.map((as) => ({
          name: `${binding}: said to be nowhere · ${as}`,
          ask: headOf({ target: '/work?x=1', as, cookie, lines: from('unknown') }),
          required: binding === 'off' ? expected(IN, as) : NOWHERE,
        })),
        {
          name: `${binding}: ${name} · fetch`,
          ask: headOf({ target: '/work?x=1', cookie, ...move }),
          required: expected(moved, 'fetch'),
        },
        ...casesOf([
          { name: `${binding}: ${name}, again`, cookie, ...move, sight: ended },
          { name: `${binding}: ${name}, and back`, cookie, sight: back },
        ]),
      ])
    }
  }
})

t.test(
  'who says of itself that it is elsewhere is not believed, and neither is who is not',
  async (t) => {
    const world = await startWorld(t, { state: { session_binding: 'step_up' } })
    const cookie = world.session()
    await runTable(
      t,
      world.targets,
      casesOf([
        { name: 'at home, said to be elsewhere', cookie, lines: from('203.0.113.9'), sight: IN },
        {
          name: 'another browser, said to be at home',
          cookie,
          lines: from('127.0.0.1'),
          userAgent: CHROME,
          sight: asked('binding_step_up'),
        },
      ]),
    )
  },
)

t.test('keys that come and go while it runs', async (t) => {
  const world = await startWorld(t)
  const third = newSigningKey('third')
  const cookies = [CURRENT, NEXT, third].map((key) => world.session({ key, sid: key.kid }))
  const [current = '', next = '', added = ''] = cookies
  await runTable(
    t,
    world.targets,
    casesOf([
      { name: 'current', cookie: current, sight: IN },
      { name: 'next', cookie: next, sight: IN },
      { name: 'not yet published', cookie: added, sight: asked('key_unknown') },
    ]),
  )
  await world.publish([NEXT, third])
  world.setClocks(601)
  await world.polled()
  const recent = (key: typeof third) => world.session({ key, sid: key.kid })
  await runTable(
    t,
    world.targets,
    casesOf([
      { name: 'next, which is the current one now', cookie: recent(NEXT), sight: IN },
      { name: 'published meanwhile', cookie: recent(third), sight: IN },
      { name: 'retired', cookie: recent(CURRENT), sight: asked('key_unknown') },
    ]),
  )
})
