/** Every state that a tenant can be in, alone and while it changes. */
import t from 'tap'
import type { Case, Required } from './case.ts'
import { expected, runTable, type Sight } from './table.ts'
import { AS, headOf, startWorld, type As, type TenantState, type World } from './world.ts'

/** What comes of a path: for nobody, and for ada. */
type Fate = 'session' | 'open' | 'sealed' | 'suspended' | 'unreadable'

function requiredOf(fate: Fate, as: As, isSignedIn: boolean): Required {
  const sight: Sight = isSignedIn ? { user: 'ada' } : { reason: 'no_session' }
  const nobody = { user: '', claims: '', verified: '', foreign: [] }
  switch (fate) {
    case 'session':
      return expected(sight, as)
    case 'open':
      return isSignedIn ? expected(sight, as) : { outcome: 'forward', application: nobody }
    case 'sealed':
      return { outcome: 'sealed_404', reason: 'not_found', application: null }
    case 'suspended':
      return { outcome: ['refused_503', 'service_503'], reason: 'suspended', application: null }
    case 'unreadable':
      return { outcome: 'refused_400', reason: 'path_unreadable', application: null }
  }
}

function casesOf(world: World, state: string, fates: Readonly<Record<string, Fate>>): Case[] {
  const cookie = world.session()
  return Object.entries(fates).flatMap(([target, fate]) =>
    [false, true].flatMap((isSignedIn) =>
      AS.map((as) => ({
        name: `${state}: ${target} · ${isSignedIn ? 'signed in' : 'nobody'}, ${as}`,
        ask: headOf({ target, as, cookie: isSignedIn ? cookie : '' }),
        required: requiredOf(fate, as, isSignedIn),
      })),
    ),
  )
}

interface Row {
  readonly name: string
  readonly state: Partial<TenantState>
  readonly fates: Readonly<Record<string, Fate>>
}

const TABLE: readonly Row[] = [
  {
    name: 'on',
    state: {},
    fates: {
      '/': 'session',
      '/work': 'session',
      '/admin': 'sealed',
      '/admin/': 'sealed',
      '/ADMIN/users?x=1': 'sealed',
      '/administrator': 'session',
      '/health': 'open',
      '/health/live?deep=1': 'open',
      '/healthz': 'session',
      '/%c0%af': 'unreadable',
    },
  },
  {
    name: 'pass-through',
    state: { protection: 'pass-through' },
    fates: { '/': 'open', '/work': 'open', '/admin': 'open', '/health': 'open', '/%c0%af': 'open' },
  },
  {
    name: 'suspended',
    state: { status: 'suspended' },
    fates: {
      '/': 'suspended',
      '/admin': 'suspended',
      '/health': 'suspended',
      '/service/login': 'suspended',
      '/%c0%af': 'suspended',
    },
  },
  {
    name: 'suspended and pass-through',
    state: { status: 'suspended', protection: 'pass-through' },
    fates: { '/': 'suspended', '/health': 'suspended' },
  },
  {
    name: 'nothing sealed, nothing excluded',
    state: { sealed: [], excluded: [] },
    fates: { '/': 'session', '/admin': 'session', '/health': 'session', '/%c0%af': 'unreadable' },
  },
  {
    name: 'sealed inside excluded',
    state: { sealed: ['/public/internal'], excluded: ['/public'] },
    fates: {
      '/public': 'open',
      '/public/a.css': 'open',
      '/public/internal': 'sealed',
      '/public/internal/x': 'sealed',
      '/public//internal': 'sealed',
      '/public/internals': 'open',
    },
  },
  {
    name: 'excluded inside sealed',
    state: { sealed: ['/api'], excluded: ['/api/health'] },
    fates: {
      '/api': 'sealed',
      '/api/health': 'sealed',
      '/api/health/x': 'sealed',
      '/apis': 'session',
    },
  },
  {
    name: 'the same path sealed and excluded',
    state: { sealed: ['/both'], excluded: ['/both'] },
    fates: { '/both': 'sealed', '/both/x': 'sealed' },
  },
  {
    name: 'everything sealed',
    state: { sealed: ['/'], excluded: ['/health'] },
    fates: { '/': 'sealed', '/work': 'sealed', '/health': 'sealed', '/service/login': 'sealed' },
  },
  {
    name: 'everything excluded',
    state: { sealed: ['/admin'], excluded: ['/'] },
    fates: { '/': 'open', '/work/x': 'open', '/admin': 'sealed', '/a/../b': 'session' },
  },
  {
    name: 'the service’s own addresses sealed',
    state: { sealed: ['/service'] },
    fates: { '/service/login': 'sealed', '/service/callback': 'sealed', '/': 'session' },
  },
  {
    name: 'the service’s own addresses excluded',
    state: { excluded: ['/service'] },
    fates: { '/service/other': 'open', '/service': 'open' },
  },
  {
    name: 'several of each',
    state: { sealed: ['/a', '/B/c', '/ü'], excluded: ['/x', '/Y/z'] },
    fates: {
      '/a': 'sealed',
      '/b/C/d': 'sealed',
      '/b': 'session',
      '/x/1': 'open',
      '/Y/z': 'open',
      '/y/z': 'session',
    },
  },
]

t.test('a tenant’s state decides, for nobody and for somebody', async (t) => {
  for (const { name, state, fates } of TABLE) {
    const world = await startWorld(t, { state })
    await runTable(t, world.targets, casesOf(world, name, fates))
  }
})

t.test('under pass-through a bad session is no session, and nobody is named', async (t) => {
  const world = await startWorld(t, { state: { protection: 'pass-through' } })
  const nobody = {
    outcome: 'forward',
    application: { user: '', claims: '', verified: '' },
  } as const
  const over = world.session({ issuedAgoSeconds: 9000 })
  const forged = 'service_session=a.b.c'
  await runTable(t, world.targets, [
    { name: 'expired', ask: headOf({ cookie: over }), required: nobody },
    { name: 'forged', ask: headOf({ cookie: forged }), required: nobody },
    {
      name: 'idle',
      ask: headOf({ cookie: world.session({ seenAgoSeconds: 901 }) }),
      required: nobody,
    },
    {
      name: 'sign-in goes on',
      ask: headOf({ target: '/service/login', as: 'navigation' }),
      required: { outcome: 'service_302' },
    },
  ])
})

t.test('an excluded path takes a bad session for none, and a good one for who it is', async (t) => {
  const world = await startWorld(t, { state: { session_binding: 'terminate' } })
  const nobody = {
    outcome: 'forward',
    application: { user: '', claims: '', verified: '' },
  } as const
  const ask = (cookie: string, userAgent?: string) =>
    headOf({ target: '/health', cookie, ...(userAgent !== undefined && { userAgent }) })
  const ada = world.session()
  await runTable(t, world.targets, [
    { name: 'good', ask: ask(ada), required: expected({ user: 'ada' }, 'fetch') },
    {
      name: 'too old',
      ask: ask(world.session({ issuedAgoSeconds: 28_800, lifeSeconds: 90_000 })),
      required: nobody,
    },
    { name: 'of two', ask: ask(`${ada}; ${ada}`), required: nobody },
    { name: 'moved', ask: ask(ada, 'curl/8.1'), required: nobody },
    { name: 'and not ended by it', ask: ask(ada), required: expected({ user: 'ada' }, 'fetch') },
  ])
})

t.test('a state that changes while it runs is in force everywhere', async (t) => {
  const world = await startWorld(t)
  const step = async (name: string, change: Partial<TenantState>, fates: Row['fates']) => {
    await world.change(change)
    await runTable(t, world.targets, casesOf(world, name, fates))
  }
  await runTable(t, world.targets, casesOf(world, 'at first', { '/': 'session', '/x': 'session' }))
  await step(
    'other paths',
    { sealed: ['/x'], excluded: ['/y'] },
    { '/x': 'sealed', '/y': 'open', '/admin': 'session', '/health': 'session' },
  )
  await step('off', { protection: 'pass-through' }, { '/': 'open', '/x': 'open', '/y': 'open' })
  await step(
    'on again, the other way round',
    { protection: 'on', sealed: ['/y'], excluded: ['/x'] },
    { '/': 'session', '/x': 'open', '/y': 'sealed' },
  )
  await step('suspended', { status: 'suspended' }, { '/': 'suspended', '/x': 'suspended' })
  await step(
    'published again',
    { status: 'published', max_session_seconds: 100 },
    { '/': 'session', '/x': 'open', '/y': 'sealed' },
  )
  const old = world.session({ issuedAgoSeconds: 100 })
  const idle = world.session({ seenAgoSeconds: 901 })
  const asked = (name: string, cookie: string, sight: Sight): Case => ({
    name,
    ask: headOf({ cookie }),
    required: expected(sight, 'fetch'),
  })
  await runTable(t, world.targets, [
    asked('sessions made shorter', old, { reason: 'session_too_old' }),
    asked('idle', idle, { reason: 'idle' }),
  ])
  const revokedSeconds = world.nowSeconds()
  await world.change(
    { max_session_seconds: 28_800, idle_seconds: 1800 },
    { sids: { 'sid-2': revokedSeconds } },
  )
  const revoked = (issuedAgoSeconds: number) => world.session({ sid: 'sid-2', issuedAgoSeconds })
  await runTable(t, world.targets, [
    asked('sessions made longer', old, { user: 'ada' }),
    asked('idle for longer', idle, { user: 'ada' }),
    asked('revoked meanwhile', revoked(1), { reason: 'revoked' }),
    asked('signed in since', revoked(0), { user: 'ada' }),
  ])
})
