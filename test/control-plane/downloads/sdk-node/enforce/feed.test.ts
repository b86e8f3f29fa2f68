/** What the middleware makes of its feed: the last good state stays, and nothing opens by itself. */
import t from 'tap'
import { startGuard } from '../../../../support/asked-guard.ts'

/** Most of the time is spent waiting for polls: they wait together. */
const TOGETHER = { buffered: true }
t.jobs = 12

const HOUR_MS = 3_600_000

t.test('who is signed in is let in, and what is sealed is not there', TOGETHER, async (t) => {
  const { ask, service } = await startGuard(t)
  t.match(await ask('/'), { kind: 401, reason: 'no_session' })
  t.match(await ask('/', { cookie: service.session() }), { kind: 'forward', user: 'ada' })
  t.match(await ask('/admin/x', { cookie: service.session() }), { kind: 404, reason: 'not_found' })
  t.match(await ask('/health'), { kind: 'forward', user: undefined })
})

t.test('where sessions become shorter and longer again nobody comes back', TOGETHER, async (t) => {
  const { ask, service } = await startGuard(t, { max_session_seconds: 8 * 3600 })
  const twoDaysAgo = service.nowSeconds() - 2 * 86_400
  const many = (notBefore: number) =>
    Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`s${at}`, notBefore]))
  const sids = { ...many(twoDaysAgo + 86_400), 'sid-1': twoDaysAgo }
  service.revoke({ sids, session_seconds: 30 * 86_400 })
  await service.polled()
  service.revoke({ sids: { ...many(service.nowSeconds()), 'sid-1': twoDaysAgo } })
  await service.polled()
  service.put({ max_session_seconds: 30 * 86_400 })
  await service.polled()
  const before = { issuedAgoSeconds: 3 * 86_400, lifeSeconds: 30 * 86_400 }
  t.match(await ask('/', { cookie: service.session(before) }), { kind: 401, reason: 'revoked' })
  const another = service.session({ ...before, sid: 'another' })
  t.match(await ask('/', { cookie: another }), { kind: 'forward' })
})

t.test(
  'each poll names the instance, its version and the state that it has',
  TOGETHER,
  async (t) => {
    const { guard, service } = await startGuard(t, {}, { instance: 'web-7' })
    await guard.ready()
    await service.polled(2)
    const [first, ...others] = service.polls
    t.match(first?.headers, {
      'x-service-instance': 'web-7',
      'x-service-sdk-version': /^\d+\.\d+\.\d+$/,
      'x-service-clock-offset': '0',
    })
    t.equal(first?.headers['if-none-match'], undefined)
    t.equal(first?.status, 200)
    for (const { headers, status } of others) {
      t.equal(headers['if-none-match'], '"v1.1"')
      t.equal(status, 304)
    }
  },
)

t.test(
  'a revocation is enforced from the next poll on, and a later sign-in is accepted',
  TOGETHER,
  async (t) => {
    const { ask, service } = await startGuard(t)
    const before = service.session({ issuedAgoSeconds: 5 })
    t.match(await ask('/', { cookie: before }), { kind: 'forward' })
    service.revoke({ subjects: { ada: service.nowSeconds() } })
    await service.polled()
    t.match(await ask('/', { cookie: before }), { kind: 401, reason: 'revoked' })
    t.match(await ask('/', { cookie: service.session() }), { kind: 'forward' })
    t.match(
      await ask('/', { cookie: service.session({ sub: 'constructor', issuedAgoSeconds: 9 }) }),
      {
        kind: 'forward',
      },
    )
  },
)

for (const status of [401, 403, 409, 429, 500])
  t.test(`a feed that answers ${status} opens nothing and ends nothing`, TOGETHER, async (t) => {
    const { ask, service, warnings } = await startGuard(t)
    await ask('/')
    service.control.feedStatus = status
    await service.polled()
    t.match(await ask('/'), { kind: 401, reason: 'no_session' })
    t.match(await ask('/admin'), { kind: 404 })
    t.match(await ask('/', { cookie: service.session() }), { kind: 'forward' })
    t.ok(
      warnings.some((text) => text.includes(String(status))),
      'and it is said',
    )
    t.notOk(
      warnings.some((text) => text.includes('client secret of')),
      'without the secret',
    )
  })

t.test('with a feed that refuses from the start nobody is let in', TOGETHER, async (t) => {
  const { ask, guard, service } = await startGuard(t, {}, { clientSecret: 'a wrong one' })
  t.match(await ask('/health'), { kind: 503, reason: 'not_ready' })
  t.match(await ask('/', { cookie: service.session() }), { kind: 503, reason: 'not_ready' })
  await guard.close()
})

for (const change of [
  { session_binding: 7 },
  { sealed: 'none' },
  { idle_seconds: -1 },
  { tenant_id: 'another' },
  { mode: 'gateway' },
])
  t.test(
    `a state with ${JSON.stringify(change)} is left: the last good one stays`,
    TOGETHER,
    async (t) => {
      const { ask, service, warnings } = await startGuard(t)
      await ask('/')
      service.put({ excluded: ['/everything'], ...change })
      await service.polled()
      t.match(await ask('/everything'), { kind: 401 })
      t.match(await ask('/admin'), { kind: 404 })
      t.ok(warnings.length > 0)
    },
  )

t.test('fields that this version does not know change nothing', TOGETHER, async (t) => {
  const { ask, service } = await startGuard(t, { sealed_by_country: ['xx'], mood: { any: 1 } })
  t.match(await ask('/admin'), { kind: 404 })
  t.match(await ask('/', { cookie: service.session() }), { kind: 'forward', user: 'ada' })
})

t.test('a state that does not say whether protection is on has it on', TOGETHER, async (t) => {
  const { ask } = await startGuard(t, { protection: undefined })
  t.match(await ask('/'), { kind: 401, reason: 'no_session' })
})

t.test('pass-through lets everybody by, and names who is signed in', TOGETHER, async (t) => {
  const { ask, service } = await startGuard(t, { protection: 'pass-through' })
  t.match(await ask('/admin'), { kind: 'forward', user: undefined })
  t.match(await ask('/admin', { cookie: service.session() }), { kind: 'forward', user: 'ada' })
})

t.test(
  'where the licence blocks it nobody signs in anew, and who is signed in stays',
  TOGETHER,
  async (t) => {
    const { ask, service } = await startGuard(t, { licence_blocks_signin: true })
    const blocked = await ask('/service/login?returnTo=/a')
    t.match(blocked, { kind: 403, body: /licence_blocked/ })
    t.same(blocked.cookies, [])
    const cookie = service.session()
    t.match(await ask('/', { cookie }), { kind: 'forward', user: 'ada' })
    t.match(await ask('/service/login?returnTo=/a', { cookie }), { kind: 303, location: '/a' })
    service.put({ licence_blocks_signin: false })
    await service.polled()
    t.match(await ask('/service/login'), { kind: 302, location: /authorize/ })
  },
)

t.test('a tenant that is suspended, or in a state nobody knows, is closed', TOGETHER, async (t) => {
  const { ask, service } = await startGuard(t, { status: 'suspended' })
  t.match(await ask('/health'), { kind: 503, reason: 'suspended' })
  service.put({ status: 'half-open' })
  await service.polled()
  t.match(await ask('/', { cookie: service.session() }), { kind: 503, reason: 'suspended' })
})

t.test('an hour without the service ends no session; then its news arrive', TOGETHER, async (t) => {
  const { ask, service, pass } = await startGuard(t, { idle_seconds: 9000 })
  const cookie = service.session({ lifeSeconds: 20_000 })
  t.match(await ask('/', { cookie }), { kind: 'forward' })
  await service.stop()
  pass(HOUR_MS)
  t.match(await ask('/', { cookie }), { kind: 'forward', user: 'ada' })
  t.match(await ask('/admin'), { kind: 404 })
  service.control.aheadMs = HOUR_MS
  service.revoke({ sids: { 'sid-1': service.nowSeconds() } })
  await service.startAgain()
  await service.polled()
  t.match(await ask('/', { cookie }), { kind: 401, reason: 'revoked' })
})

t.test('behind the limit of an outage whoever needs a session is refused', TOGETHER, async (t) => {
  const world = await startGuard(t, { idle_seconds: 9000 }, { outage: { limitSeconds: 1800 } })
  const { ask, service, pass } = world
  const cookie = service.session({ lifeSeconds: 20_000 })
  t.match(await ask('/', { cookie }), { kind: 'forward' })
  await service.stop()
  pass(HOUR_MS)
  t.match(await ask('/', { cookie }), { kind: 503, reason: 'state_lost' })
  t.match(await ask('/'), { kind: 503, reason: 'state_lost' })
  t.match(await ask('/service/login'), { kind: 503, reason: 'state_lost' })
  t.match(await ask('/admin', { cookie }), { kind: 404 }, 'sealed stays sealed')
  t.match(await ask('/health', { cookie }), { kind: 'forward', user: undefined }, 'nobody is named')
})

t.test('pass-through is not gone on with for ever either', TOGETHER, async (t) => {
  const outage = { limitSeconds: 1800 }
  const { ask, service, pass } = await startGuard(t, { protection: 'pass-through' }, { outage })
  t.match(await ask('/'), { kind: 'forward' })
  await service.stop()
  pass(HOUR_MS)
  t.match(await ask('/'), { kind: 503, reason: 'state_lost' })
})

t.test('whoever chose to keep goes on with the last state', TOGETHER, async (t) => {
  const outage = { limitSeconds: 0, then: 'keep' } as const
  const { ask, service, pass } = await startGuard(t, { idle_seconds: 9000 }, { outage })
  const cookie = service.session({ lifeSeconds: 20_000 })
  t.match(await ask('/', { cookie }), { kind: 'forward' })
  await service.stop()
  pass(HOUR_MS)
  t.match(await ask('/', { cookie }), { kind: 'forward', user: 'ada' })
  t.match(await ask('/'), { kind: 401, reason: 'no_session' })
})

t.test(
  'a revocation counts even in a state of which the rest cannot be read',
  TOGETHER,
  async (t) => {
    const { ask, service } = await startGuard(t)
    const cookie = service.session({ issuedAgoSeconds: 5 })
    t.match(await ask('/', { cookie }), { kind: 'forward' })
    service.put({ idle_seconds: 'for ever' })
    service.revoke({ sids: { 'sid-1': service.nowSeconds() } })
    await service.polled()
    t.match(await ask('/', { cookie }), { kind: 401, reason: 'revoked' })
    service.put({ tenant_id: 'another' })
    service.revoke({ all: service.nowSeconds() + 60 })
    await service.polled()
    const other = service.session({ sid: 'sid-2' })
    t.match(await ask('/', { cookie: other }), { kind: 'forward' }, 'but not of another tenant')
  },
)

t.test(
  'a binding that this version does not know asks again where a session moves',
  TOGETHER,
  async (t) => {
    const { ask, service } = await startGuard(t, { session_binding: 'device' })
    const cookie = service.session()
    t.match(await ask('/', { cookie }), { kind: 'forward' })
    t.match(await ask('/', { cookie, userAgent: 'curl/8.1' }), {
      kind: 401,
      reason: 'binding_step_up',
    })
  },
)

t.test('who is out already is not reported again with every sign-out', TOGETHER, async (t) => {
  const { ask, service, guard } = await startGuard(t)
  const cookie = service.session()
  const ended = service.session({ sid: 'sid-2', issuedAgoSeconds: 90, lifeSeconds: 60 })
  for (let times = 0; times < 5; times++) {
    t.match(await ask('/service/logout', { cookie, method: 'POST' }), { kind: 303 })
    t.match(await ask('/service/logout', { cookie: ended, method: 'POST' }), { kind: 303 })
  }
  await guard.close()
  t.match(service.batches.flat(), [{ outcome: 'logout', sid: 'sid-1' }])
  t.equal(service.batches.flat().length, 1)
})
