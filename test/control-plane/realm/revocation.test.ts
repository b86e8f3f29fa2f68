/** What a realm must not issue any more, and when it may again. */
import { mock } from 'node:test'
import t from 'tap'
import { revokeIn } from '../../../control-plane/sessions/revocations.ts'
import { upsertRevocations } from '../../../control-plane/store/queries/revocations.ts'
import { movableClock } from '../../support/control-plane.ts'
import {
  ACTOR,
  Browser,
  PASSWORD,
  relyingParty,
  sidOf,
  signIn,
  startWorld,
  userinfoStatus,
  type World,
  ADA,
} from './realm-world.ts'

/** Writes the not-before time and nothing else, as if a request had been under way meanwhile. */
async function revokeBehindItsBack(
  world: World,
  userId: string,
  kind: 'subject' | 'all' | 'sid' = 'subject',
  target = userId,
) {
  await world.store.change(({ queries, nowMs }) =>
    upsertRevocations(queries, [
      {
        tenantId: 'acme',
        kind,
        target,
        notBefore: Math.floor(nowMs / 1000) + 1,
        createdAt: nowMs,
      },
    ]),
  )
}

async function asksForPassword(browser: Browser, url: string) {
  return /name="password"/.test((await browser.visit(url)).html)
}

for (const target of ['subject', 'sid', 'all'] as const)
  t.test(`revoking by ${target} ends the realm's own session, and signing in works`, async (t) => {
    const world = await startWorld(t)
    const acme = await world.tenant('acme')
    const browser = new Browser(world.baseUrl)
    const first = await signIn(browser, acme)
    const chosen = {
      subject: { subject: acme.ada.userId },
      sid: { sid: sidOf(first.tokens) },
      all: { all: true } as const,
    }[target]
    const { notBefore } = await world.revocations.revoke('acme', chosen, ACTOR)
    const again = await signIn(browser, acme)
    t.match(again.page.html, /name="password"/)
    t.ok(again.claims.iat >= notBefore || target === 'sid', 'not issued before it may be')
    t.not(again.claims.sid, first.claims.sid)
  })

t.test('a code from before a revocation makes no token', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const party = await relyingParty(acme)
  for (const revoke of [
    () => world.revocations.revoke('acme', { subject: acme.ada.userId }, ACTOR),
    () => world.revocations.revoke('acme', { all: true }, ACTOR),
    () => revokeBehindItsBack(world, acme.ada.userId),
  ]) {
    const browser = new Browser(world.baseUrl)
    const flow = await party.begin()
    const page = await browser.visit(flow.url)
    const { url } = await browser.submit(page.url, ADA)
    await revoke()
    t.match(await flow.finish(url).catch((error: unknown) => error), { error: 'invalid_grant' })
  }
})

t.test(
  'an access token from before a revocation answers nothing, however many are kept',
  async (t) => {
    for (const kind of ['subject', 'all', 'sid'] as const) {
      const world = await startWorld(t)
      const acme = await world.tenant('acme')
      const { tokens } = await signIn(new Browser(world.baseUrl), acme)
      t.equal(await userinfoStatus(acme, tokens.access_token), 200)
      const targets = { subject: acme.ada.userId, all: '', sid: sidOf(tokens) }
      await revokeBehindItsBack(world, acme.ada.userId, kind, targets[kind])
      t.equal(await userinfoStatus(acme, tokens.access_token), 401, kind)
      const again = await signIn(new Browser(world.baseUrl), acme)
      t.equal(await userinfoStatus(acme, again.tokens.access_token), 200)
    }
  },
)

t.test('a revocation that commits while a token is made keeps it from leaving', async (t) => {
  // The clock stands at S.999; the token is made as the revocation commits and S+1 begins
  const clock = movableClock(Math.floor(Date.now() / 1000) * 1000 + 999)
  let meanwhile: (() => Promise<unknown>) | undefined
  const world = await startWorld(t, {
    clock,
    adapt: ({ sessions }) => ({
      sessions: {
        ...sessions,
        async find(...which) {
          await meanwhile?.()
          return sessions.find(...which)
        },
      },
    }),
  })
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const flow = await (await relyingParty(acme)).begin()
  const page = await browser.visit(flow.url)
  const { url } = await browser.submit(page.url, ADA)
  meanwhile = async () => {
    await world.revocations.revoke('acme', { subject: acme.ada.userId }, ACTOR)
    clock.advance(1)
  }
  const error = await flow.finish(url).catch((problem: unknown) => problem)
  t.match(error, { error: 'invalid_grant' })
  meanwhile = undefined
  t.strictSame((await world.sessions.list('acme', { limit: 10 })).items, [])
})

t.test('a session that outlived its revocation in the store is not continued', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const { party } = await signIn(browser, acme)
  await revokeBehindItsBack(world, acme.ada.userId)
  t.ok(await asksForPassword(browser, (await party.begin()).url))
})

t.test('a sign-in that was revoked on its way back is asked for again', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const flow = await (await relyingParty(acme)).begin()
  const page = await browser.visit(flow.url)
  const posted = await browser.once(page.url, { method: 'POST', body: new URLSearchParams(ADA) })
  await revokeBehindItsBack(world, acme.ada.userId)
  t.ok(await asksForPassword(browser, posted.headers.get('location') ?? ''))
})

t.test('a sign-in page that is open while everybody is signed out can still be used', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const flow = await (await relyingParty(acme)).begin()
  const page = await browser.visit(flow.url)
  const { notBefore } = await world.revocations.revoke('acme', { all: true }, ACTOR)
  const { url } = await browser.submit(page.url, ADA)
  t.ok(Number((await flow.finish(url)).claims()?.iat) >= notBefore)
})

t.test('a user who is disabled or removed gets nothing, not even with a session', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const { party, tokens } = await signIn(browser, acme)
  await world.store.change(async (change) => {
    await change.queries.run('select 1')
    await revokeIn(change, 'acme', { subject: 'nobody' }, 'unrelated')
  })
  t.notOk(await asksForPassword(browser, (await party.begin()).url), 'somebody else is not meant')
  await world.users.patch('acme', acme.ada.userId, { isDisabled: true }, ACTOR)
  t.ok(await asksForPassword(browser, (await party.begin()).url))
  const headers = { authorization: `Bearer ${tokens.access_token}` }
  t.equal((await fetch(`${acme.issuer}/userinfo`, { headers })).status, 401)
  await world.users.patch('acme', acme.ada.userId, { isDisabled: false }, ACTOR)
  await signIn(browser, acme)
  await world.users.remove('acme', acme.ada.userId, ACTOR)
  t.ok(await asksForPassword(browser, (await party.begin()).url))
})

t.test('a session that is idle or too old is not continued without the password', async (t) => {
  const clock = movableClock(Date.now())
  const world = await startWorld(t, { clock })
  const acme = await world.tenant('acme', { maxSessionSeconds: 3600, idleSeconds: 900 })
  const browser = new Browser(world.baseUrl)
  const { party, tokens } = await signIn(browser, acme)
  const sid = sidOf(tokens)
  const isAsked = async () => asksForPassword(browser, (await party.begin()).url)

  clock.advance(800_000)
  await world.sessions.seen([{ tenantId: 'acme', sid, atMs: clock.nowMs() }])
  clock.advance(800_000)
  t.notOk(await isAsked(), 'in use at a gateway until a while ago')
  clock.advance(902_000)
  t.ok(await isAsked(), 'idle')
  await world.sessions.seen([{ tenantId: 'acme', sid, atMs: clock.nowMs() }])
  clock.advance(60_000)
  t.notOk(await isAsked(), 'in use again')
  for (let minutes = 0; minutes < 20; minutes++) {
    clock.advance(60_000)
    await world.sessions.seen([{ tenantId: 'acme', sid, atMs: clock.nowMs() }])
  }
  t.ok(await isAsked(), 'too old, however much it is used')
})

t.test('a session of one second is legal', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme', { maxSessionSeconds: 1, idleSeconds: 1 })
  // however long this machine takes for a sign-in
  mock.timers.enable({ apis: ['Date'], now: Date.now() })
  t.teardown(() => mock.timers.reset())
  const { claims } = await signIn(new Browser(world.baseUrl), acme)
  t.equal(claims.exp - claims.iat, 1)
})

t.test('a token that would be too large is not issued, and the log says whose', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const user = await world.users.create(
    'acme',
    { username: 'long', email: 'long@example.test', name: 'Long', password: PASSWORD },
    ACTOR,
  )
  const browser = new Browser(world.baseUrl)
  const flow = await (await relyingParty(acme)).begin()
  const asked = new URL(flow.url)
  asked.searchParams.set('nonce', 'n'.repeat(1600)) // names are cut, the client's own word is not
  const page = await browser.visit(asked.href)
  const { url } = await browser.submit(page.url, { ...ADA, username: 'long' })
  await t.rejects(flow.finish(url))
  t.ok(world.logged.some((line) => line.includes(user.userId) && line.includes('bytes')))
})
