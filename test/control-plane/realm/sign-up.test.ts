/** Self sign-up: what leads to an account, and that nothing else does. */
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { CONSOLE_REALM } from '../../../control-plane/store/reserved.ts'
import { movableClock } from '../../support/control-plane.ts'
import { codeIn, linkIn, otherThan, ticketIn } from './mail-visits.ts'
import { ACTOR, Browser } from './realm-world.ts'
import { begin, codeAt, isAskingForPassword, setPolicy } from './steps.ts'
import {
  askForAccount,
  auditedOf,
  DETAILS,
  GRACE,
  NEW_PASSWORD,
  signUp,
  startSignUp,
  usersOf,
  waitingOf,
} from './sign-up-visits.ts'

t.test(
  'an address, a code, a name and a password: the account is there and signed in',
  async (t) => {
    const { world, acme } = await startSignUp(t)
    const visit = await askForAccount(world, acme)
    t.match(visit.page.html, /Create an account/)
    t.match(visit.asked, {
      response: { status: 200 },
      html: /An email to .*grace@company\.example/,
    })
    t.equal(
      (await usersOf(world)).length,
      1,
      'ada alone: an address that nobody has shown is nothing',
    )
    t.same(await waitingOf(world), [])
    const mail = await visit.mail()
    t.equal(mail.to, GRACE)
    const details = await visit.confirm()
    t.match(details, { response: { status: 200 }, html: /is confirmed/ })
    t.equal((await usersOf(world)).length, 1)
    const done = await visit.post(DETAILS)
    t.ok(done.url.startsWith(acme.redirectUri), done.url)
    const claims = await visit.claims(done.url)
    t.same(claims['amr'], ['pwd'])
    const user = await world.users.byLogin('acme', GRACE)
    t.match(user, { name: 'Grace Hopper', username: GRACE, emailProvenAt: Number, source: 'own' })
    t.equal(claims.sub, user?.userId)
    t.match(await auditedOf(world, 'user.created'), [{ content: { user_id: claims.sub } }, {}])
    const again = await (await begin(world, acme)).send({ username: GRACE, password: NEW_PASSWORD })
    t.ok(again.url.startsWith(acme.redirectUri), 'and the password is theirs')
    t.match(world.signUpMail.counts(), { sent: 1, created: 1, requested: 0 })
    t.notMatch(
      world.logged.join(''),
      new RegExp(`${ticketIn(mail.text)}|${codeIn(mail.text)}|lanterns`),
    )
  },
)

t.test('the link does the same, in the browser that asked and in no other', async (t) => {
  const { world, acme } = await startSignUp(t)
  const visit = await askForAccount(world, acme)
  const { text } = await visit.mail()
  const link = linkIn(text)
  const stranger = await new Browser(world.baseUrl).visit(link)
  t.match(stranger, { response: { status: 403 }, html: /Use the browser where you asked/ })
  const inAnother = await begin(world, acme)
  const other = `${inAnother.page.url.split('?')[0]}/sign-up`
  t.match(await inAnother.browser.submit(other, { code: codeIn(text) }), { html: /name="email"/ })
  t.match(await visit.browser.visit(link), { html: /You opened the link/ }, 'uses nothing up')
  t.match(await visit.browser.visit(link), { html: /You opened the link/ })
  t.match(await visit.post({ ticket: ticketIn(text) }), { html: /is confirmed/ })
  t.match(await visit.browser.visit(link), { html: /is confirmed/ }, 'a second click goes on')
  t.equal((await usersOf(world)).length, 1)
})

t.test('what follows the password is asked for here, too', async (t) => {
  const { world, acme } = await startSignUp(t)
  await setPolicy(world, 'mfa', { mode: 'required' })
  const { done, post, page, browser, flow } = await signUp(world, acme)
  t.match(done, { response: { status: 200 }, html: /second factor/i })
  t.match(await post(DETAILS), { html: /second factor/i }, 'a second click leads on as well')
  const seed = /[A-Z2-7 ]{32,}/.exec(done.html)?.[0].replaceAll(' ', '') ?? ''
  const code = codeAt(seed, world.clock.nowMs())
  const saved = await browser.submit(page.url, { code })
  const back = await browser.submit(saved.url, { codes_saved: '1' })
  t.match((await flow.finish(back.url)).claims(), { acr: 'aal2' })
})

t.test('where an email lets people in no password is asked for', async (t) => {
  const { world, acme } = await startSignUp(t, { sign_up: 'open', email_sign_in: true })
  const visit = await askForAccount(world, acme)
  const details = await visit.confirm()
  t.notOk(isAskingForPassword(details.html))
  const done = await visit.post({ name: 'Grace', password: 'ignored', repeated: 'other' })
  t.same((await visit.claims(done.url))['amr'], ['email'])
  t.equal((await world.users.byLogin('acme', GRACE))?.passwordHash, '')
})

t.test('what is typed wrong is said beside it, in the rules of the tenant', async (t) => {
  const { world, acme } = await startSignUp(t, { sign_up: 'open', min_length: 12 })
  const visit = await askForAccount(world, acme, 'nobody')
  t.match(visit.asked, { response: { status: 422 }, html: /complete email address/ })
  await visit.post({ email: GRACE })
  t.match(await visit.post({ code: '' }), { response: { status: 422 }, html: /Enter the code/ })
  await visit.confirm()
  for (const [fields, said] of [
    [{ ...DETAILS, name: ' ' }, /Enter your name/],
    [{ ...DETAILS, name: 'x'.repeat(LIMITS.nameCharactersMax + 1) }, /Enter your name/],
    [{ ...DETAILS, name: 'Grace\u202e' }, /Enter your name/],
    [{ ...DETAILS, repeated: 'other' }, /do not match|differ|not the same|don’t match/],
    [{ ...DETAILS, password: 'short1!', repeated: 'short1!' }, /at least|short/i],
    [{ ...DETAILS, password: GRACE, repeated: GRACE }, /guess/],
  ] as const)
    t.match(await visit.post(fields), { response: { status: 422 }, html: said })
  t.equal((await usersOf(world)).length, 1)
  t.match(await visit.post({ ...DETAILS, name: 'x'.repeat(LIMITS.nameCharactersMax) }), {
    url: new RegExp(`^${acme.redirectUri}`),
  })
})

t.test('off by default, and closed again: there is no page and nothing that waits', async (t) => {
  const { world, acme } = await startSignUp(t, { sign_up: 'approval' })
  const first = await signUp(world, acme)
  t.match(first.done.html, /Waiting for approval/)
  const underWay = await askForAccount(world, acme, 'under-way@company.example')
  const { text } = await underWay.mail()
  await setPolicy(world, 'password', {})
  t.same(await waitingOf(world), [], 'whoever waits waits no more')
  t.match(await auditedOf(world, 'sign_up.closed'), [{ content: { requests: 1 } }])
  const answer = await underWay.post({ code: codeIn(text) })
  t.ok(isAskingForPassword(answer.html))
  t.notMatch(answer.html, /Create an account/)
  t.equal((await usersOf(world)).length, 1)
  const policies = await world.policies.of('acme')
  t.match(policies.password, { sign_up: 'off', sign_up_domains: [] })
})

t.test('whoever must come by a connection, and the console, know nothing of it', async (t) => {
  const { world, acme } = await startSignUp(t)
  await world.store.change(async ({ queries }) => {
    const { upsertPolicy } = await import('../../../control-plane/store/queries/policies.ts')
    const settings = { sign_up: 'open', sign_in: 'break_glass' }
    await upsertPolicy(queries, { tenantId: 'acme', name: 'password', settings, updatedAt: 1 })
  })
  const visit = await askForAccount(world, acme)
  t.notMatch(visit.page.html, /Create an account/)
  t.notMatch(visit.asked.html, /An email to/)
  const { signUpIn } = await import('../../../control-plane/realm/sign-up/open.ts')
  t.equal(await signUpIn(world.store.read, CONSOLE_REALM), undefined)
})

t.test('only addresses of the domains that the tenant names', async (t) => {
  const { world, acme } = await startSignUp(t, {
    sign_up: 'open',
    sign_up_domains: ['Company.Example', 'other.example'],
  })
  for (const email of ['eve@evil.example', 'eve@sub.company.example', 'eve@company.example.evil'])
    t.match((await askForAccount(world, acme, email)).asked, {
      response: { status: 422 },
      html: /can’t be created with this email address/,
    })
  t.match((await signUp(world, acme, 'Grace@COMPANY.example')).done.url, acme.redirectUri)
  const late = await askForAccount(world, acme, 'ann@other.example')
  await late.confirm()
  await setPolicy(world, 'password', { sign_up: 'open', sign_up_domains: ['company.example'] })
  t.match(await late.post(DETAILS), { response: { status: 422 }, html: /can’t be created/ })
  t.equal(await world.users.byLogin('acme', 'ann@other.example'), undefined)
})

t.test(
  'an administrator decides: until then there is neither a session nor a password',
  async (t) => {
    const { world, acme } = await startSignUp(t, { sign_up: 'approval' })
    const { done, looks } = await signUp(world, acme)
    t.match(done, { response: { status: 200 }, html: /Waiting for approval/ })
    t.match(await looks(), { html: /Waiting for approval/ })
    t.equal((await usersOf(world)).length, 1)
    const tries = await (await begin(world, acme)).send({ username: GRACE, password: NEW_PASSWORD })
    t.match(tries, { response: { status: 422 }, html: /Wrong username or password/ })
    const [waiting] = (await world.signUps.list('acme', { limit: 10 })).items
    t.match(waiting, { email: GRACE, name: 'Grace Hopper', ip: '127.0.0.1' })
    const before = world.sentMails.length
    const user = await world.signUps.approve('acme', waiting?.signUpId ?? '', ACTOR)
    await world.mails.deliver()
    t.match(world.sentMails.slice(before), [
      { to: GRACE, subject: /is ready/, text: /acme\.example/ },
    ])
    t.match(user, { username: GRACE, name: 'Grace Hopper', emailProvenAt: Number })
    t.same(await waitingOf(world), [])
    const back = await (await begin(world, acme)).send({ username: GRACE, password: NEW_PASSWORD })
    t.ok(back.url.startsWith(acme.redirectUri))
    t.match(await auditedOf(world, 'sign_up.requested'), [{ content: { email: GRACE } }])
    t.match(await auditedOf(world, 'user.created'), [
      { actor: ACTOR.name, content: { user_id: user.userId, sign_up_id: waiting?.signUpId } },
      {},
    ])
    await t.rejects(world.signUps.approve('acme', waiting?.signUpId ?? '', ACTOR), {
      code: 'sign_up_not_found',
    })
  },
)

t.test('refused: a mail says so, nothing is left, and they may ask again', async (t) => {
  const { world, acme } = await startSignUp(t, { sign_up: 'approval' })
  await signUp(world, acme)
  const [waiting] = await waitingOf(world)
  const before = world.sentMails.length
  await world.signUps.refuse('acme', waiting?.signUpId ?? '', ACTOR)
  await world.mails.deliver()
  t.match(world.sentMails.slice(before), [{ to: GRACE, subject: /was not approved/ }])
  t.same(await waitingOf(world), [])
  t.match(await auditedOf(world, 'sign_up.refused'), [{ content: { email: GRACE } }])
  t.match((await signUp(world, acme)).done.html, /Waiting for approval/)
})

t.test('whoever waits for too long waits no more, and it is written down', async (t) => {
  const clock = movableClock()
  const { world, acme } = await startSignUp(t, { sign_up: 'approval' }, { clock })
  await signUp(world, acme)
  clock.advance(LIMITS.signUpKeptMs - 60_000)
  await world.jobs.run()
  t.equal((await waitingOf(world)).length, 1)
  clock.advance(60_000)
  await world.jobs.run()
  t.same(await waitingOf(world), [])
  t.match(await auditedOf(world, 'sign_up.expired'), [{ content: { email: GRACE } }])
})

t.test('a wrong code is said, and so many of them end the mail', async (t) => {
  const { world, acme } = await startSignUp(t)
  const visit = await askForAccount(world, acme)
  const code = codeIn((await visit.mail()).text)
  for (let guess = 0; guess < LIMITS.signInMailGuessesMax; guess++)
    t.match(await visit.post({ code: otherThan(code) }), { html: /That code is not valid/ })
  t.match(await visit.post({ code }), { response: { status: 422 }, html: /has expired, was used/ })
  t.equal((await usersOf(world)).length, 1)
})
