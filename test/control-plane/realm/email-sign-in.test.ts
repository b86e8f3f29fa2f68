/** Sign-in by email: once, in the browser that asked, and through all that a password goes through. */
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { movableClock } from '../../support/control-plane.ts'
import { untilFound } from '../../support/fleet.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { ACTOR, Browser, type World } from './realm-world.ts'
import {
  askForMail,
  codeIn,
  linkIn,
  otherThan,
  startByMail,
  ticketIn,
  ticketsOf,
} from './mail-visits.ts'
import {
  begin,
  codeAt,
  enrolApp,
  isAskingForCode,
  isAskingForPassword,
  recordedSignIns,
  setPolicy,
} from './steps.ts'

t.test('asked for, mailed, opened, pressed: signed in, and the token says how', async (t) => {
  const { world, acme } = await startByMail(t)
  const visit = await askForMail(world, acme)
  t.match(visit.asked, { response: { status: 200 }, html: /Check your email/ })
  const mail = await visit.mail()
  t.equal(mail.to, 'ada@example.test')
  t.match(mail.text, /only in the browser that asked, and expire in 15 minutes/)
  const link = linkIn(mail.text)
  t.ok(link.startsWith(`${acme.issuer}/sign-in/`))
  for (const look of ['once', 'twice'])
    t.match(await visit.browser.visit(link), { html: /You opened the link/ }, look)
  const done = await visit.post({ ticket: ticketIn(mail.text) })
  t.ok(done.url.startsWith(acme.redirectUri))
  const claims = await visit.claims(done.url)
  t.same(claims['amr'], ['email'])
  t.equal(claims['acr'], 'aal1')
  t.equal(claims.sub, acme.ada.userId)
  t.notMatch(world.logged.join(''), new RegExp(ticketIn(mail.text)))
  t.match((await world.users.get('acme', acme.ada.userId)).emailProvenAt, Number)
  t.same(world.signInMail.counts(), {
    ...{ sent: 1, nobody: 0, held_back: 0, used: 1, wrong: 0, other_browser: 0 },
  })
  t.match(
    (await world.auditTrail.list({ limit: 20, cursor: undefined })).items.find(
      ({ action }) => action === 'sign_in.mailed',
    ),
    { content: { user_id: acme.ada.userId, address: '127.0.0.1' } },
  )
})

t.test('the code does the same, however it is typed, and both do it once', async (t) => {
  const { world, acme } = await startByMail(t)
  const visit = await askForMail(world, acme, 'ADA')
  const { text } = await visit.mail()
  const code = codeIn(text)
  const done = await visit.post({ code: ` ${code.replace(' ', '-')} ` })
  t.ok(done.url.startsWith(acme.redirectUri))
  const second = await visit.post({ code })
  t.ok(second.url.startsWith(acme.redirectUri), 'a second click leads on as well')
  await visit.claims(done.url)
  t.ok((await ticketsOf(world)).every(({ usedAt }) => usedAt !== null))
})

t.test('where the policy does not say so there is nothing of it', async (t) => {
  const { world, acme } = await startByMail(t)
  const visit = await askForMail(world, acme)
  const { text } = await visit.mail()
  await setPolicy(world, 'password', {})
  const refused = await visit.post({ code: codeIn(text) })
  t.match(refused, { response: { status: 422 }, html: /Enter your username and password/ })
  t.notMatch(refused.html, /by_email/)
  t.ok(isAskingForPassword((await visit.browser.visit(linkIn(text))).html))
  const other = await begin(world, acme)
  t.notMatch(other.page.html, /by_email/)
  const asked = await other.send({ username: 'ada', by_email: '1' })
  t.equal(asked.response.status, 422)
  t.equal(world.sentMails.length, 1)
})

t.test('a second factor is asked for behind it, and a step-up of such a session', async (t) => {
  const clock = movableClock(Date.now())
  const { world, acme } = await startByMail(t, { clock })
  const app = await enrolApp(world, acme)
  await setPolicy(world, 'mfa', { mode: 'off' })
  const visit = await askForMail(world, acme)
  const done = await visit.post({ code: codeIn((await visit.mail()).text) })
  t.same((await visit.claims(done.url))['amr'], ['email'])
  const parameters = { acr_values: 'aal2' }
  const more = await begin(world, acme, parameters, visit.browser)
  t.ok(isAskingForCode(more.page.html))
  const stepped = await more.claims((await more.send({ code: app.code() })).url)
  t.same(stepped['amr'], ['email', 'otp', 'mfa'], 'and no password')

  clock.advance(60_000)
  await setPolicy(world, 'mfa', { mode: 'required' })
  const again = await askForMail(world, acme)
  const asks = await again.post({ code: codeIn((await again.mail()).text) })
  t.match(asks.html, /authenticator app/)
  const signed = await again.browser.submit(asks.url, { code: app.code() })
  t.equal(signed.url.includes('code='), false, 'the code of the email page is another one')
  const main = again.page.url
  const through = await again.browser.submit(main, { code: codeAt(app.seed, clock.nowMs()) })
  t.same((await again.claims(through.url))['amr'], ['email', 'otp', 'mfa'])
})

t.test('an old password is no matter of who comes by email', async (t) => {
  const clock = movableClock(Date.now())
  const { world, acme } = await startByMail(t, { clock })
  await setPolicy(world, 'password', { email_sign_in: true, max_age_days: 1 })
  clock.advance(3 * 86_400_000)
  const visit = await askForMail(world, acme)
  const done = await visit.post({ code: codeIn((await visit.mail()).text) })
  t.ok(done.url.startsWith(acme.redirectUri))
})

t.test('networks, devices and the number of sessions count as they do elsewhere', async (t) => {
  const { world, acme } = await startByMail(t)
  await setPolicy(world, 'network', { deny: ['127.0.0.0/8'] })
  const pages = []
  for (const name of ['ada', 'nobody']) pages.push((await askForMail(world, acme, name)).asked)
  t.same(
    pages.map(({ response }) => response.status),
    [403, 403],
  )
  await setPolicy(world, 'network', {})
  await setPolicy(world, 'device', { require: 'enrolled' })
  const visit = await askForMail(world, acme)
  const device = await visit.post({ code: codeIn((await visit.mail()).text) })
  t.match(device.html, /Check this device/)
  await setPolicy(world, 'device', {})
  await setPolicy(world, 'session', { concurrent_max: 1, when_full: 'refuse' })
  const first = await askForMail(world, acme)
  await first.claims((await first.post({ code: codeIn((await first.mail()).text) })).url)
  const full = await askForMail(world, acme)
  const refused = await full.post({ code: codeIn((await full.mail()).text) })
  t.match(refused, { response: { status: 403 }, html: /too many devices/ })
})

t.test('a mail that is late, replaced or void opens nothing, and the page says so', async (t) => {
  const clock = movableClock(Date.now())
  const { world, acme } = await startByMail(t, { clock })
  const late = await askForMail(world, acme)
  const { text } = await late.mail()
  clock.advance(15 * 60_000)
  for (const shown of [{ code: codeIn(text) }, { ticket: ticketIn(text) }])
    t.match(await late.post(shown), { response: { status: 422 }, html: /expired, was used/ })
  t.match(await late.browser.visit(linkIn(text)), { response: { status: 422 }, html: /expired/ })

  const next = await late.again()
  t.match(next, { response: { status: 200 }, html: /Check your email/ })
  const newer = await untilFound(() => world.sentMails[1])
  t.match(await late.post({ ticket: ticketIn(text) }), { response: { status: 422 } }, 'the old one')
  const done = await late.post({ code: codeIn(newer.text) })
  t.ok(done.url.startsWith(acme.redirectUri))

  const { userId } = acme.ada
  for (const [what, change] of [
    ['a new address', { email: 'ada@elsewhere.test' }],
    ['a new password', { password: 'umbrella garden 77 otter' }],
    ['a disabled account', { isDisabled: true }],
  ] as const) {
    const login = (await world.users.get('acme', userId)).email
    const visit = await askForMail(world, acme, login)
    const code = codeIn((await visit.mail()).text)
    await world.users.patch('acme', userId, change, ACTOR)
    clock.advance(2000)
    t.match(await visit.post({ code }), { response: { status: 422 }, html: /expired/ }, what)
  }
})

t.test(
  'a mail server that is away changes nothing of the page, and the mail comes later',
  async (t) => {
    const clock = movableClock(Date.now())
    let isAway = true
    const sent: string[] = []
    const { world, acme } = await startByMail(t, {
      clock,
      mailTransport: {
        async send({ text }) {
          if (isAway) throw new Error('away')
          sent.push(text)
        },
        close: () => undefined,
      },
    })
    const visit = await askForMail(world, acme)
    t.match(visit.asked, { response: { status: 200 }, html: /Check your email/ })
    await untilPaused(world)
    isAway = false
    clock.advance(61_000)
    await world.mails.deliver()
    const done = await visit.post({ code: codeIn(sent[0] ?? '') })
    t.ok(done.url.startsWith(acme.redirectUri))

    isAway = true
    await askForMail(world, acme)
    await untilPaused(world)
    isAway = false
    clock.advance(11 * 60_000)
    await world.mails.deliver()
    t.equal(
      sent.filter((text) => codeIn(text) !== '').length,
      1,
      'with four minutes left nobody can use it any more',
    )
  },
)

t.test('a mail that was replaced before it went out is not sent', async (t) => {
  const clock = movableClock(Date.now())
  let isAway = true
  const sent: string[] = []
  const { world, acme } = await startByMail(t, {
    clock,
    mailTransport: {
      async send({ text }) {
        if (isAway) throw new Error('away')
        sent.push(text)
      },
      close: () => undefined,
    },
  })
  const visit = await askForMail(world, acme)
  await untilPaused(world)
  isAway = false
  clock.advance(30_000)
  await visit.again()
  await untilFound(() => sent[0])
  clock.advance(61_000)
  await world.mails.deliver()
  t.same(sent.filter((text) => codeIn(text) !== '').length, 1)
  t.ok((await visit.post({ code: codeIn(sent[0] ?? '') })).url.startsWith(acme.redirectUri))
})

t.test('another mail has to wait, twice as long each time, and there are five', async (t) => {
  const clock = movableClock(Date.now())
  const { world, acme } = await startByMail(t, { clock })
  const visit = await askForMail(world, acme)
  await visit.mail()
  t.match((await visit.again()).html, /another email in 30 seconds/)
  for (const [number, wait] of [30, 60, 120, 240].entries()) {
    clock.advance(wait * 1000 - 1)
    t.match((await visit.again()).html, /another email in one second/)
    clock.advance(1)
    t.notMatch((await visit.again()).html, /another email in/)
    await untilFound(() => world.sentMails[number + 1])
  }
  clock.advance(1_800_000)
  t.match((await visit.again()).html, /No more emails for this sign-in/)
})

t.test('a typing error costs nothing but a try, and the try is on record', async (t) => {
  const { world, acme } = await startByMail(t)
  const visit = await askForMail(world, acme)
  const code = codeIn((await visit.mail()).text)
  t.match(await visit.post({ code: '' }), { response: { status: 422 }, html: /Enter the code/ })
  t.match(await visit.post({ code: 'abc' }), { response: { status: 422 }, html: /not valid/ })
  t.match(await visit.post({ code: otherThan(code) }), { html: /not valid/ })
  const rows = await recordedSignIns(world)
  t.match(rows.at(-1), { reason: 'email_code_wrong', isFailure: true, userId: acme.ada.userId })
  const done = await visit.post({ code })
  t.ok(done.url.startsWith(acme.redirectUri))
  t.match((await recordedSignIns(world)).at(-1), { facts: { password: 'mailed' } })
})

t.test('another tab, the back button, a page that is opened again: all lead on', async (t) => {
  const { world, acme } = await startByMail(t)
  const visit = await askForMail(world, acme)
  t.match((await visit.looks()).html, /Check your email/, 'reloaded')
  t.ok(isAskingForPassword((await visit.browser.visit(visit.page.url)).html), 'another way')
  const code = codeIn((await visit.mail()).text)
  await visit.claims((await visit.post({ code })).url)
  t.match((await visit.looks()).url, /\?code=/, 'the session is there')
  const stranger = new Browser(world.baseUrl)
  t.match(await stranger.visit(visit.asked.url), { response: { status: 400 } })
})

/** The mail was tried, and that it failed is written down: it has its next turn in a minute. */
async function untilPaused({ store, clock }: World) {
  for (;;) {
    const rows = await store.read.select().from(schema.mails)
    const links = rows.filter(({ kind, attempts }) => kind === 'link' && attempts > 0)
    if (links.some(({ nextAt }) => nextAt <= clock.nowMs() + LIMITS.mailSendMsMax)) return
    await sleep(10)
  }
}
