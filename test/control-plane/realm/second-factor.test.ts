/** The step behind the password, for people who have a second factor. */
import t from 'tap'
import { movableClock } from '../../support/control-plane.ts'
import { ACTOR, ADA, Browser, relyingParty, signIn, startWorld } from './realm-world.ts'
import {
  begin,
  enrolApp,
  eventsOf,
  isAskingForCode,
  isAskingForPassword,
  recordedSignIns,
  setPolicy,
} from './steps.ts'

t.test('who has an app is asked for its code, and the token says so', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const app = await enrolApp(world, acme)
  const person = await begin(world, acme)
  const asked = await person.password()
  t.equal(asked.response.status, 200)
  t.ok(isAskingForCode(asked.html))
  t.match(asked.html, /Signing in as ada/)
  t.match(await eventsOf(world, 'signin.step_up'), [
    { subject: acme.ada.userId, reason: 'second_factor_needed', ip: '127.0.0.1' },
  ])

  const wrong = await person.send({ code: '000000' })
  t.equal(wrong.response.status, 422)
  t.match(wrong.html, /role="alert"/)
  const claims = await person.claims((await person.send({ code: ` ${app.code()} ` })).url)
  t.match(claims, { sub: acme.ada.userId, acr: 'aal2', amr: ['pwd', 'otp', 'mfa'] })
  t.equal((await eventsOf(world, 'signin.step_up')).length, 1, 'one for the whole way')
  const rows = await recordedSignIns(world)
  t.strictSame(
    rows.map(({ outcome, reason, isFailure }) => ({ outcome, reason, isFailure })),
    [
      { outcome: 'asking', reason: 'second_factor_needed', isFailure: false },
      { outcome: 'asking', reason: 'code_wrong', isFailure: true },
      { outcome: 'signed_in', reason: 'signed_in', isFailure: false },
    ],
  )
})

t.test('a code that is sent twice at once signs in twice; elsewhere it is refused', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const app = await enrolApp(world, acme)
  const person = await begin(world, acme)
  const thief = await begin(world, acme)
  await person.password()
  await thief.password()
  const code = app.code()
  const [first, second] = await Promise.all([person.sendOnce({ code }), person.sendOnce({ code })])
  t.equal(first.response.status, 303)
  t.equal(second.response.status, 303)
  const stolen = await thief.send({ code })
  t.equal(stolen.response.status, 422)
  t.ok(isAskingForCode(stolen.html))
  const { url } = await person.browser.visit(second.url)
  t.equal((await person.claims(url)).acr, 'aal2')
  const late = await person.send({ code })
  t.equal((await person.claims(late.url)).acr, 'aal2', 'a click after the way back as well')
})

/** A shared computer: the person has left, the tab has not. */
t.test('a finished sign-in proves nothing to whoever finds the tab later', async (t) => {
  const clock = movableClock(Date.now())
  const world = await startWorld(t, { clock })
  const acme = await world.tenant('acme')
  const app = await enrolApp(world, acme)
  const person = await begin(world, acme)
  await person.password()
  const code = app.code()
  await person.claims((await person.send({ code })).url)
  person.browser.forgetCookies(({ name }) => name.includes('session')) // signed out
  clock.advance(61_000)
  for (const typed of [code, '000000'])
    t.ok(isAskingForPassword((await person.send({ code: typed })).html))
  t.ok(isAskingForCode((await person.password()).html), 'and for the factor behind it')
})

t.test('of fifty who show the same code at once, one is let in', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const app = await enrolApp(world, acme)
  const owner = { tenantId: 'acme', userId: acme.ada.userId }
  for (const typed of [app.code(), app.recoveryCodes[3] ?? '']) {
    const claims = await Promise.all(
      Array.from({ length: 50 }, () =>
        world.factors.claimOfCode(owner, typed, world.clock.nowMs()),
      ),
    )
    const taken = await Promise.all(
      claims.map((claim) => world.store.change((change) => claim?.take(change) ?? never())),
    )
    t.equal(taken.filter((isTaken) => isTaken).length, 1)
  }
})

const never = () => Promise.reject(new Error('the code was not recognised'))

t.test('an earlier step than the last is refused, though it is in the window', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const app = await enrolApp(world, acme)
  const [now, next] = [app.code(), app.code(1)]
  const first = await begin(world, acme)
  await first.password()
  t.equal((await first.claims((await first.send({ code: next })).url)).acr, 'aal2')
  const second = await begin(world, acme)
  await second.password()
  t.equal((await second.send({ code: now })).response.status, 422)
})

t.test('a recovery code stands in once, however it is typed', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const { recoveryCodes } = await enrolApp(world, acme)
  const [code = ''] = recoveryCodes
  const people = [await begin(world, acme), await begin(world, acme)] as const
  for (const person of people) await person.password()
  const typed = ` ${code.toLowerCase().replace('-', ' ')} `
  const answers = await Promise.all(people.map((person) => person.sendOnce({ code: typed })))
  t.strictSame(answers.map(({ response }) => response.status).sort(), [303, 422])
  const winner = answers.findIndex(({ response }) => response.status === 303)
  const person = people[winner as 0 | 1]
  const { url } = await person.browser.visit(answers[winner]?.url ?? '')
  t.match(await person.claims(url), { acr: 'aal2', amr: ['pwd', 'otp', 'mfa'] })
  const listed = await world.factors.list({ tenantId: 'acme', userId: acme.ada.userId })
  t.equal(listed.filter((one) => one.kind === 'recovery' && one.lastUsedAt === null).length, 9)
})

t.test('five tabs with one code: the others go on by themselves', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const app = await enrolApp(world, acme)
  const browser = new Browser(world.baseUrl)
  const tabs = []
  for (let tab = 0; tab < 5; tab++) tabs.push(await begin(world, acme, {}, browser))
  for (const tab of tabs) t.ok(isAskingForCode((await tab.password()).html))
  const [first, reloaded, posted, started, again] = tabs
  if (!first || !reloaded || !posted || !started || !again) throw new Error('five tabs')
  const code = app.code()
  t.equal((await first.claims((await first.send({ code })).url)).acr, 'aal2')
  const byItself = await browser.visit(reloaded.page.url)
  t.equal((await reloaded.claims(byItself.url)).acr, 'aal2')
  t.equal((await posted.claims((await posted.send({ code })).url)).acr, 'aal2')
  const fromPassword = await started.password()
  t.equal((await started.claims(fromPassword.url)).acr, 'aal2', 'not asked for a code again')
  t.equal((await again.claims((await again.send({ code: '000000' })).url)).acr, 'aal2')
})

t.test('the same sign-in in two tabs, each behind the other', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const app = await enrolApp(world, acme)
  const tab = await begin(world, acme)
  t.ok(isAskingForCode((await tab.password()).html))
  t.ok(isAskingForCode((await tab.password()).html), 'the other tab still shows the password')
  const reloaded = await tab.browser.visit(tab.page.url)
  t.equal(reloaded.response.status, 200)
  t.ok(isAskingForCode(reloaded.html), 'and goes on where the first has come to')
  t.equal((await tab.claims((await tab.send({ code: app.code() })).url)).acr, 'aal2')
})

t.test('a code without a password leads to the password, not to an error', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const app = await enrolApp(world, acme)
  const person = await begin(world, acme)
  const answer = await person.send({ code: app.code() })
  t.equal(answer.response.status, 422)
  t.ok(isAskingForPassword(answer.html))
  t.notOk((await recordedSignIns(world)).length, 'nobody was judged')
})

t.test('another account can be chosen behind the password', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await enrolApp(world, acme)
  const person = await begin(world, acme)
  await person.password()
  t.ok(isAskingForPassword((await person.send({ restart: '1' })).html))
  t.ok(isAskingForPassword((await person.browser.visit(person.page.url)).html), 'for good')
})

t.test('what changes behind the password counts: disabled, or another password', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const app = await enrolApp(world, acme)
  for (const change of [{ isDisabled: true }, { isDisabled: false, password: 'mellon mellon' }]) {
    const person = await begin(world, acme)
    if (change.isDisabled)
      await world.users.patch('acme', acme.ada.userId, { isDisabled: false }, ACTOR)
    t.ok(isAskingForCode((await person.password()).html))
    await world.users.patch('acme', acme.ada.userId, change, ACTOR)
    const answer = await person.send({ code: app.code() })
    t.equal(answer.response.status, 422)
    t.equal(answer.url, person.page.url, 'at this very page')
    t.ok(isAskingForPassword(answer.html))
    if (change.isDisabled)
      await world.users.patch('acme', acme.ada.userId, { isDisabled: false }, ACTOR)
  }
})

t.test('a restart between password and code is not noticed', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const app = await enrolApp(world, acme)
  const person = await begin(world, acme)
  await person.password()
  await world.close()
  const { file, masterKey, port } = world
  await startWorld(t, { file, masterKey, port })
  t.equal((await person.claims((await person.send({ code: app.code() })).url)).acr, 'aal2')
})

t.test('wrong codes pause the account as wrong passwords do', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const app = await enrolApp(world, acme)
  await setPolicy(world, 'lockout', { user_failures: 3 })
  const person = await begin(world, acme)
  await person.password()
  for (let guess = 0; guess < 3; guess++)
    t.equal((await person.send({ code: `00000${guess}` })).response.status, 422)
  const code = app.code()
  t.equal((await person.send({ code })).response.status, 429, 'the right one as well')
  t.match(await eventsOf(world, 'signin.denied'), [{ reason: 'user_paused' }])
})

t.test('after ten wrong codes the password is asked for again', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await enrolApp(world, acme)
  await setPolicy(world, 'lockout', { user_failures: 1000 })
  const person = await begin(world, acme)
  await person.password()
  for (let guess = 0; guess < 9; guess++)
    t.ok(isAskingForCode((await person.send({ code: '000000' })).html))
  await person.send({ code: '000000' })
  t.ok(isAskingForPassword((await person.send({ code: '000000' })).html))
})

t.test('a session of a password alone is asked for the factor only, and once', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  t.equal((await signIn(browser, acme)).claims.acr, 'aal1')
  const app = await enrolApp(world, acme)
  const stepUp = await begin(world, acme, { acr_values: 'aal2' }, browser)
  t.ok(isAskingForCode(stepUp.page.html))
  t.match(await eventsOf(world, 'signin.step_up'), [{ subject: acme.ada.userId }])
  t.equal((await stepUp.claims((await stepUp.send({ code: app.code() })).url)).acr, 'aal2')
  const again = await begin(world, acme, { acr_values: 'aal2' }, browser)
  t.equal((await again.claims(again.page.url)).acr, 'aal2', 'not again')
  const without = await begin(world, acme, { prompt: 'none' }, browser)
  t.equal((await without.claims(without.page.url)).acr, 'aal2')
})

t.test('prompt=none does not step up; who has no factor is not held up', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  await signIn(browser, acme)
  const nobody = await begin(world, acme, { acr_values: 'aal2', prompt: 'none' }, browser)
  t.equal((await nobody.claims(nobody.page.url)).acr, 'aal1')
  await enrolApp(world, acme)
  const silent = await begin(world, acme, { acr_values: 'aal2', prompt: 'none' }, browser)
  t.match(silent.page.url, /error=login_required/)
})

t.test('a session goes on with the factor once the policy demands it', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  await signIn(browser, acme)
  await enrolApp(world, acme)
  await setPolicy(world, 'mfa', { mode: 'required' })
  const renewed = await begin(world, acme, {}, browser)
  t.ok(isAskingForCode(renewed.page.html))
})

t.test('discovery names both levels', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const { configuration } = await relyingParty(acme)
  t.strictSame(configuration.serverMetadata().acr_values_supported, ['aal1', 'aal2'])
})

t.test('mode off asks nobody; on risk asks from a new browser only', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const app = await enrolApp(world, acme)
  await setPolicy(world, 'mfa', { mode: 'off' })
  const browser = new Browser(world.baseUrl)
  t.equal((await signIn(browser, acme)).claims.acr, 'aal1')
  await setPolicy(world, 'mfa', { mode: 'on_risk' })
  const known = await begin(world, acme, { prompt: 'login' }, browser)
  t.equal((await known.claims((await known.send(ADA)).url)).acr, 'aal1')
  const stranger = await begin(world, acme)
  t.ok(isAskingForCode((await stranger.password()).html))
  t.equal((await stranger.claims((await stranger.send({ code: app.code() })).url)).acr, 'aal2')
})
