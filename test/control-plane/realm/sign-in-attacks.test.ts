/** What an attacker would do to the way in, behind the password; each test is headed by the attack. */
import t from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import { Refusal } from '../../../shared/errors.ts'
import { movableClock } from '../../support/control-plane.ts'
import { accountOf } from './account-visit.ts'
import { ACTOR, Browser, signIn, startWorld, type World } from './realm-world.ts'
import {
  begin,
  codeAt,
  enrolApp,
  eventsOf,
  isAskingForCode,
  isAskingForPassword,
  setPolicy,
} from './steps.ts'

const NEW_PASSWORD = 'lamp otter viaduct 88 quince'
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

function appCode(world: World, html: string): string {
  const [, key = ''] = /<code>((?:[A-Z2-7]{1,4} ?)+)<\/code>/.exec(html) ?? []
  return key === '' ? '' : codeAt(key.replaceAll(' ', ''), world.clock.nowMs())
}

/** Stops everybody at one place until they are let go. */
function gate() {
  let isClosed = false
  let release = () => undefined as void
  let arrive = () => undefined as void
  const arrived = new Promise<void>((resolve) => (arrive = resolve))
  const opened = new Promise<void>((resolve) => (release = resolve))
  return {
    arrived,
    close: () => void (isClosed = true),
    open: () => release(),
    async pass() {
      if (!isClosed) return
      arrive()
      await opened
    },
  }
}

for (const target of ['subject', 'all'] as const)
  t.test(
    `a finished sign-in is sent once more after everybody of ${target} was put out`,
    async (t) => {
      const clock = movableClock(Date.now())
      const world = await startWorld(t, { clock })
      const acme = await world.tenant('acme')
      const { code } = await enrolApp(world, acme)
      const thief = await begin(world, acme)
      const waiting = await begin(world, acme)
      await thief.password()
      await waiting.password()
      await thief.claims((await thief.send({ code: code() })).url)
      const whom = target === 'all' ? { all: true as const } : { subject: acme.ada.userId }
      await world.revocations.revoke('acme', whom, ACTOR)
      clock.advance(2000)
      t.ok(isAskingForPassword((await thief.send({ codes_saved: '1' })).html))
      const held = await waiting.send({ code: code(1) })
      t.ok(isAskingForPassword(held.html), 'and one that had only the password')
      t.ok(isAskingForCode((await thief.password()).html), 'with all that it takes')
      t.match((await thief.send({ code: code(1) })).url, /\?code=/)
    },
  )

t.test('a finished sign-in is sent once more after its person has signed out', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const { code } = await enrolApp(world, acme)
  const person = await begin(world, acme)
  await person.password()
  const tokens = await person.flow.finish((await person.send({ code: code() })).url)
  await person.browser.visit(`${acme.issuer}/logout?id_token_hint=${tokens.id_token}`)
  t.ok(isAskingForPassword((await person.send({ codes_saved: '1' })).html))
  t.ok(isAskingForCode((await person.password()).html), 'for the factor as well')
})

t.test('a sign-in has shown a factor and is revoked before its last step', async (t) => {
  const clock = movableClock(Date.now())
  const world = await startWorld(t, { clock })
  const acme = await world.tenant('acme')
  const { code } = await enrolApp(world, acme)
  await setPolicy(world, 'password', { max_age_days: 1 })
  clock.advance(48 * HOUR_MS)
  const thief = await begin(world, acme)
  await thief.password()
  t.match((await thief.send({ code: code() })).html, /name="new_password"/)
  await world.revocations.revoke('acme', { subject: acme.ada.userId }, ACTOR)
  clock.advance(2000)
  t.ok(isAskingForPassword((await thief.send({})).html))
  t.ok(isAskingForCode((await thief.password()).html), 'for the factor as well')
})

t.test('a finished sign-in is kept alive by sending it again and again', async (t) => {
  const clock = movableClock(Date.now())
  const world = await startWorld(t, { clock })
  const acme = await world.tenant('acme')
  const { code } = await enrolApp(world, acme)
  const person = await begin(world, acme)
  await person.password()
  await person.send({ code: code() })
  person.browser.forgetCookies(({ name }) => name.includes('session')) // its answer was lost
  const again = async () => (await person.sendOnce({ codes_saved: '1' })).response.status
  clock.advance(40_000)
  t.equal(await again(), 303, 'a late second click')
  clock.advance(40_000)
  t.equal(await again(), 422)
})

for (const change of ['password', 'isDisabled', 'revoked'] as const)
  t.test(`the old password waits for its hash while the account changes: ${change}`, async (t) => {
    const { pass, close, open, arrived } = gate()
    const world = await startWorld(t, {
      adapt: ({ users }) => ({
        users: {
          ...users,
          async authenticate(...given) {
            const result = await users.authenticate(...given)
            await pass()
            return result
          },
        },
      }),
    })
    const acme = await world.tenant('acme')
    const thief = await begin(world, acme)
    close()
    const sent = thief.password()
    await arrived
    const patch = change === 'password' ? { password: NEW_PASSWORD } : { isDisabled: true }
    if (change === 'revoked')
      await world.revocations.revoke('acme', { subject: acme.ada.userId }, ACTOR)
    else await world.users.patch('acme', acme.ada.userId, patch, ACTOR)
    open()
    const answer = await sent
    t.equal(answer.response.status, 422)
    t.ok(isAskingForPassword(answer.html))
  })

t.test('the account changes between the code and the change that would sign in', async (t) => {
  const { pass, close, open, arrived } = gate()
  const world = await startWorld(t, {
    adapt: ({ factors }) => ({
      factors: {
        ...factors,
        async claimOfCode(...given) {
          const claim = await factors.claimOfCode(...given)
          await pass()
          return claim
        },
      },
    }),
  })
  const acme = await world.tenant('acme')
  const { code } = await enrolApp(world, acme)
  const thief = await begin(world, acme)
  await thief.password()
  close()
  const sent = thief.send({ code: code() })
  await arrived
  await world.users.patch('acme', acme.ada.userId, { password: NEW_PASSWORD }, ACTOR)
  open()
  t.ok(isAskingForPassword((await sent).html))
})

t.test('the new password is guessed at a page that nobody counts', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await enrolApp(world, acme)
  const thief = await begin(world, acme)
  await thief.password()
  await world.users.patch('acme', acme.ada.userId, { password: NEW_PASSWORD }, ACTOR)
  await sleep(1100) // the next second: nothing but the password itself stands in the way
  for (const guess of ['no', NEW_PASSWORD])
    t.ok(
      isAskingForPassword((await thief.send({ new_password: guess })).html),
      'told apart by nothing',
    )
  t.equal((await eventsOf(world, 'signin.denied')).length, 0)
})

t.test('a session that was left open enrols its own factor, once one is demanded', async (t) => {
  const clock = movableClock(Date.now())
  const world = await startWorld(t, { clock })
  const acme = await world.tenant('acme', { idleSeconds: 7200 })
  const browser = new Browser(world.baseUrl)
  await signIn(browser, acme)
  await setPolicy(world, 'mfa', { mode: 'required' })
  const early = await begin(world, acme, {}, browser)
  t.not(appCode(world, early.page.html), '', 'who has just come in sets it up at once')
  clock.advance(11 * MINUTE_MS)
  const late = await begin(world, acme, {}, browser)
  t.ok(isAskingForPassword(late.page.html))
  t.ok(isAskingForPassword((await early.send({ code: '000000' })).html), 'an early page too')
  const page = await late.password()
  await late.send({ code: appCode(world, page.html) })
  t.equal((await late.claims((await late.send({ codes_saved: '1' })).url)).acr, 'aal2')
})

t.test('a code alone makes an old session fresh enough to change the account', async (t) => {
  const clock = movableClock(Date.now())
  const world = await startWorld(t, { clock })
  const acme = await world.tenant('acme', { idleSeconds: 7200 })
  const browser = new Browser(world.baseUrl)
  const { claims } = await signIn(browser, acme)
  const { code } = await enrolApp(world, acme)
  clock.advance(HOUR_MS)
  const stepUp = await begin(world, acme, { acr_values: 'aal2' }, browser)
  const more = await stepUp.claims((await stepUp.send({ code: code() })).url)
  t.match(more, { acr: 'aal2', auth_time: claims.auth_time })
  t.match((await accountOf(browser, acme).open('/email')).html, /proof_password/)
})

t.test('a session is asked for more and ended before the code comes', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const { idToken } = await signIn(browser, acme)
  const { code } = await enrolApp(world, acme)
  const stepUp = await begin(world, acme, { acr_values: 'aal2' }, browser)
  const { cookies } = browser
  await browser.visit(`${acme.issuer}/logout?id_token_hint=${idToken}`)
  browser.remember(cookies)
  t.ok(isAskingForPassword((await stepUp.send({ code: code() })).html))
})

t.test('a session has shown a factor on the way to more, and is ended', async (t) => {
  const clock = movableClock(Date.now())
  const world = await startWorld(t, { clock })
  const acme = await world.tenant('acme')
  clock.advance(48 * HOUR_MS)
  const browser = new Browser(world.baseUrl)
  const { idToken } = await signIn(browser, acme)
  const { code } = await enrolApp(world, acme)
  await setPolicy(world, 'password', { max_age_days: 1 })
  const stepUp = await begin(world, acme, { acr_values: 'aal2' }, browser)
  t.match((await stepUp.send({ code: code() })).html, /name="new_password"/)
  const { cookies } = browser
  await browser.visit(`${acme.issuer}/logout?id_token_hint=${idToken}`)
  browser.remember(cookies)
  t.ok(isAskingForCode((await stepUp.password()).html), 'the password alone is not enough')
})

t.test(
  'codes are guessed at a session that is asked for more, ten and then ten more',
  async (t) => {
    const world = await startWorld(t)
    const acme = await world.tenant('acme')
    const browser = new Browser(world.baseUrl)
    await signIn(browser, acme)
    const { code } = await enrolApp(world, acme)
    await setPolicy(world, 'lockout', { user_failures: 1000, address_failures: 1000 })
    const guess = async (person: Awaited<ReturnType<typeof begin>>, times: number) => {
      for (let time = 0; time < times; time++) await person.send({ code: '00000x' })
    }
    const thief = await begin(world, acme, { acr_values: 'aal2' }, browser)
    t.ok(isAskingForCode(thief.page.html))
    await guess(thief, 10)
    t.ok(isAskingForPassword((await thief.send({ code: code() })).html))
    t.ok(isAskingForPassword((await browser.visit(thief.page.url)).html))
    t.ok(isAskingForCode((await thief.password()).html), 'the password begins anew')

    const other = await begin(world, acme, { acr_values: 'aal2' }, browser)
    await guess(other, 9)
    await other.send({ restart: '1' })
    t.ok(isAskingForPassword((await browser.visit(other.page.url)).html), 'the way back is no way')
  },
)

t.test('so many choose passwords that the hasher is full: asked to wait, no 500', async (t) => {
  const clock = movableClock(Date.now())
  let isFull = true
  const world = await startWorld(t, {
    clock,
    adapt: ({ users }) => ({
      users: {
        ...users,
        async choosePassword(...given) {
          if (isFull) throw new Refusal('unavailable')
          return users.choosePassword(...given)
        },
      },
    }),
  })
  const acme = await world.tenant('acme')
  await setPolicy(world, 'password', { max_age_days: 1 })
  clock.advance(48 * HOUR_MS)
  const person = await begin(world, acme)
  await person.password()
  const answer = await person.send({ new_password: NEW_PASSWORD })
  t.equal(answer.response.status, 503)
  t.equal(answer.response.headers.get('retry-after'), '5')
  t.match(answer.html, /name="new_password"/)
  isFull = false
  t.equal((await person.sendOnce({ new_password: NEW_PASSWORD })).response.status, 303)
})

t.test('who enrols and is refused for another reason still learns the codes', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await signIn(new Browser(world.baseUrl), acme)
  await setPolicy(world, 'mfa', { mode: 'required' })
  await setPolicy(world, 'session', { concurrent_max: 1, when_full: 'refuse' })
  const person = await begin(world, acme)
  const page = await person.password()
  const codes = await person.send({ code: appCode(world, page.html) })
  t.match(codes.html, /<code>[2-9A-Z]{5}-[2-9A-Z]{5}<\/code>/)
  t.notMatch((await person.send({ codes_saved: '1' })).url, /\?code=/, 'and is refused then')
  await world.revocations.revoke('acme', { subject: acme.ada.userId }, ACTOR)
})

t.test('two enrol at the same moment: the second needs the factor of the first', async (t) => {
  const { pass, close, open, arrived } = gate()
  const world = await startWorld(t, {
    adapt: ({ revocations, attempts }) => ({
      revocations,
      attempts: {
        ...attempts,
        async preview(...given) {
          const state = await attempts.preview(...given)
          if (given[1].password === 'right') await pass()
          return state
        },
      },
    }),
  })
  const acme = await world.tenant('acme')
  await setPolicy(world, 'mfa', { mode: 'required' })
  const thief = await begin(world, acme)
  const { html } = await thief.password()
  close()
  const sent = thief.send({ code: appCode(world, html) })
  await arrived
  const { recoveryCodes } = await enrolApp(world, acme)
  open()
  const answer = await sent
  t.ok(isAskingForCode(answer.html))
  t.match(answer.html, /Confirm it&#39;s you/)
  const owner = { tenantId: 'acme', userId: acme.ada.userId }
  const listed = await world.factors.list(owner)
  t.equal(listed.filter(({ kind }) => kind === 'totp').length, 1)
  t.equal(listed.length, 1 + recoveryCodes.length)
})
