/** What attackers and their programs try with a sign-in by email. */
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { movableClock } from '../../support/control-plane.ts'
import { untilFound } from '../../support/fleet.ts'
import { GRACE, startConnected, startNames } from './connections/connected.ts'
import {
  ACTOR,
  Browser,
  relyingParty,
  userNamed,
  type TestTenant,
  type World,
} from './realm-world.ts'
import {
  askForMail,
  codeIn,
  linkIn,
  otherThan,
  startByMail,
  ticketIn,
  ticketsOf,
} from './mail-visits.ts'
import { begin, recordedSignIns, setPolicy } from './steps.ts'

/** Without what each page has of its own. */
const withoutOwn = (html: string, login: string) =>
  html.replaceAll(`${login},`, 'LOGIN,').replaceAll(/sign-in\/[\w-]{20,64}/g, 'sign-in/UID')

const POISON = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }

/** What must be the same whoever is meant. */
async function answered(world: World, acme: TestTenant, login: string) {
  const { asked } = await askForMail(world, acme, login)
  const html = withoutOwn(asked.html, login)
  return { status: asked.response.status, path: asked.url.replace(/sign-in\/[\w-]+/, ''), html }
}

/** So many mails have been thought about, and sent or not. */
const thoughtAbout = (world: World, count: number) =>
  untilFound(() => {
    const { sent, nobody, held_back } = world.signInMail.counts()
    return sent + nobody + held_back >= count ? true : undefined
  })

t.test('a mail scanner opens the link over and over: it still works for the person', async (t) => {
  const { world, acme } = await startByMail(t)
  const visit = await askForMail(world, acme)
  const { text } = await visit.mail()
  for (const method of ['GET', 'HEAD', 'GET']) {
    const scanner = new Browser(world.baseUrl)
    const seen = await scanner.visit(linkIn(text), { method })
    t.equal(seen.response.status, 403)
    t.same(scanner.cookies, [])
  }
  for (const method of ['GET', 'HEAD']) {
    const looked = await visit.browser.visit(linkIn(text), { method })
    t.equal(looked.response.status, 200, 'also in the very browser')
    t.notMatch(looked.url, /code=/)
  }
  t.ok((await ticketsOf(world)).every(({ usedAt }) => usedAt === null))
  const done = await visit.post({ ticket: ticketIn(text) })
  t.ok(done.url.startsWith(acme.redirectUri))
})

t.test('the link is opened in another browser: no button, no session, words', async (t) => {
  const { world, acme } = await startByMail(t)
  const visit = await askForMail(world, acme)
  const { text } = await visit.mail()
  const victim = new Browser(world.baseUrl)
  const opened = await victim.visit(linkIn(text))
  t.match(opened, { response: { status: 403 }, html: /Use the browser where you asked/ })
  t.notMatch(opened.html, /<form|0000/)
  t.notMatch(opened.html, new RegExp(`${codeIn(text)}|${ticketIn(text)}`))
  const pressed = await victim.submit(visit.asked.url, { ticket: ticketIn(text) })
  t.equal(pressed.response.status, 400)
  t.notMatch(pressed.url, /code=/)
  // whoever has a sign-in of their own shows the mail of somebody else's there
  const own = await askForMail(world, acme, 'nobody', { browser: victim })
  const swapped = linkIn(text).replace(/sign-in\/[\w-]+/, `sign-in/${uidOf(own.page.url)}`)
  t.match(await victim.visit(swapped), { response: { status: 422 }, html: /expired, was used/ })
  for (const shown of [{ ticket: ticketIn(text) }, { code: codeIn(text) }])
    t.match(await own.post(shown), { response: { status: 422 } })
  t.equal(world.signInMail.counts().other_browser, 1)
  t.ok((await visit.post({ code: codeIn(text) })).url.startsWith(acme.redirectUri))
})

const uidOf = (url: string) => /sign-in\/([\w-]+)/.exec(url)?.[1] ?? ''

t.test('the sign-in was planted: whoever planted it does not go on with the mail', async (t) => {
  const { world, acme } = await startByMail(t)
  const attacker = await askForMail(world, acme, 'nobody')
  const isSecret = ({ name }: { name: string }) => name.includes('_attempt_')
  t.equal(attacker.browser.cookies.filter(isSecret).length, 1, 'and asked for a mail in it before')
  const victim = new Browser(world.baseUrl)
  victim.remember(attacker.browser.cookies.filter((cookie) => !isSecret(cookie)))
  const asked = await victim.submit(attacker.page.url, { username: 'ada', by_email: '1' })
  t.match(asked.html, /Check your email/)
  const { text } = await untilFound(() => world.sentMails[0])
  for (const shown of [{ code: codeIn(text) }, { ticket: ticketIn(text) }]) {
    const tried = await attacker.browser.submit(asked.url, shown)
    t.notMatch(tried.url, /code=/)
  }
  t.equal((await attacker.browser.visit(linkIn(text))).response.status, 403)
  const done = await victim.submit(asked.url, { code: codeIn(text) })
  t.match(done.url, /code=/)
  const resume = attacker.page.url.replace('/sign-in/', '/authorize/').replace(/\?.*/, '')
  t.notMatch((await attacker.browser.visit(resume)).url, /code=/)
})

t.test('nobody learns who has an account: not by the page, not by a code', async (t) => {
  const { world, acme } = await startByMail(t)
  const disabled = await world.users.create('acme', userNamed('mallory'), ACTOR)
  await world.users.patch('acme', disabled.userId, { isDisabled: true }, ACTOR)
  const known = await answered(world, acme, 'ada')
  t.equal(known.status, 200)
  for (const login of ['nobody', 'nobody@example.test', 'mallory', 'mallory@example.test'])
    t.strictSame(await answered(world, acme, login), known, login)
  await thoughtAbout(world, 5)
  t.match(world.signInMail.counts(), { sent: 1, nobody: 4 })
  t.equal(world.sentMails.length, 1)
  const guesses = []
  for (const login of ['ada@example.test', 'nobody@example.test', 'mallory@example.test']) {
    const visit = await askForMail(world, acme, login)
    const answers = []
    for (let tries = 0; tries < LIMITS.signInMailGuessesMax + 1; tries++)
      answers.push(await visit.post({ code: '1234 5678' }))
    guesses.push(answers.map(({ response, html }) => [response.status, withoutOwn(html, login)]))
  }
  t.strictSame(guesses[1], guesses[0])
  t.strictSame(guesses[2], guesses[0])
})

t.test('the answer goes out before anybody is looked for by a mail', async (t) => {
  let isAsked = false
  let open: (() => void) | undefined
  const held = new Promise<void>((resolve) => (open = resolve))
  const { world, acme } = await startByMail(t, {
    adapt: ({ signInMail }) => ({
      signInMail: {
        ...signInMail,
        async send(...asked) {
          isAsked = true
          await held
          return signInMail.send(...asked)
        },
      },
    }),
  })
  const visit = await askForMail(world, acme)
  t.match(visit.asked.html, /Check your email/)
  t.ok(isAsked)
  open?.()
  await visit.mail()
})

t.test('five guesses at a code, then it is void, and the right one as well', async (t) => {
  const { world, acme } = await startByMail(t)
  await setPolicy(world, 'lockout', { user_failures: 100 })
  const visit = await askForMail(world, acme)
  const code = codeIn((await visit.mail()).text)
  const guesses = Array.from({ length: 30 }, () => visit.postOnce({ code: otherThan(code) }))
  await Promise.all(guesses)
  const failures = (await recordedSignIns(world)).filter(({ isFailure }) => isFailure)
  t.equal(failures.length, LIMITS.signInMailGuessesMax, 'of thirty at once')
  t.match(await visit.post({ code }), { response: { status: 422 }, html: /expired, was used/ })
  t.equal(world.signInMail.counts().wrong, LIMITS.signInMailGuessesMax)
})

t.test(
  'guesses over many mails are those of the account: it is locked, as by passwords',
  async (t) => {
    const clock = movableClock(Date.now())
    const { world, acme } = await startByMail(t, { clock })
    await setPolicy(world, 'lockout', { user_failures: 7, pause_seconds: 60 })
    const first = await askForMail(world, acme, 'ada')
    const code = codeIn((await first.mail()).text)
    for (let tries = 0; tries < 5; tries++) await first.post({ code: otherThan(code) })
    const second = await askForMail(world, acme, 'ada')
    const right = codeIn((await second.mail()).text)
    for (let tries = 0; tries < 2; tries++) await second.post({ code: otherThan(right) })
    t.match(await second.post({ code: right }), { response: { status: 429 }, html: /locked/ })
    const third = await askForMail(world, acme, 'ada')
    t.match(third.asked, { response: { status: 429 }, html: /locked/ }, 'and no mail either')
    for (const login of ['nobody'])
      t.match((await askForMail(world, acme, login)).asked.response.status, 200)
    clock.advance(61_000)
    t.match((await askForMail(world, acme, 'ada')).asked, { html: /Check your email/ })
    const done = await second.post({ code: right })
    t.ok(done.url.startsWith(acme.redirectUri), 'what was refused meanwhile was not used up')
  },
)

t.test('a mailbox is flooded: five an hour, twenty a day, and no page tells', async (t) => {
  const clock = movableClock(Date.now())
  const { world, acme } = await startByMail(t, { clock })
  const { burst } = LIMITS.rateSignInMailsOfAddress
  for (let round = 0; round < burst + 3; round++)
    t.match((await askForMail(world, acme, 'ada')).asked.html, /Check your email/)
  await thoughtAbout(world, burst + 3)
  t.match(world.signInMail.counts(), { sent: burst, held_back: 3 })
  let asked = burst + 3
  for (let hour = 0; hour < 8; hour++) {
    clock.advance(3_600_000)
    for (let round = 0; round < burst; round++) await askForMail(world, acme, 'ada')
    await thoughtAbout(world, (asked += burst))
  }
  const { sent } = world.signInMail.counts()
  t.ok(sent <= LIMITS.rateSignInMailsOfAddressADay.burst + 8, `${sent} in nine hours`)
})

t.test('a stranger’s flood keeps nobody out of a browser that they have used', async (t) => {
  const { world, acme } = await startByMail(t)
  const own = await askForMail(world, acme)
  await own.claims((await own.post({ code: codeIn((await own.mail()).text) })).url)
  await untilFound(() => world.sentMails.find(({ subject }) => /New sign-in/.test(subject)))
  for (let round = 0; round < 6; round++) await askForMail(world, acme)
  await thoughtAbout(world, 7)
  t.match(world.signInMail.counts(), { sent: 5, held_back: 2 })
  own.browser.forgetCookies(({ name }) => name.includes('session'))
  const again = await askForMail(world, acme, 'ada', { browser: own.browser })
  await thoughtAbout(world, 8)
  t.match(world.signInMail.counts(), { sent: 6 })
  t.match(again.asked.html, /Check your email/)
})

t.test('one client asks for mails to everybody: it is told to wait', async (t) => {
  const clock = movableClock(Date.now())
  const { world, acme } = await startByMail(t, { clock })
  const { burst } = LIMITS.rateSignInMailsOfClient
  let number = 0
  const ask = async () => (await askForMail(world, acme, `person${number++}`)).asked
  for (let round = 0; round < burst; round++) t.equal((await ask()).response.status, 200)
  const refused = await ask()
  t.equal(refused.response.status, 429)
  t.equal(refused.response.headers.get('retry-after'), '5')
})

t.test('what one tenant sends is bounded, whoever asks', async (t) => {
  const { world, acme } = await startByMail(t)
  const { burst, perSecond } = LIMITS.rateSignInMailsOfTenant
  const full = world.clock.nowMs() + (burst * 1000) / perSecond
  await world.store.change(async ({ queries }) => {
    const { rates } = (await import('../../../control-plane/store/schema.ts')).schema
    await queries
      .insert(rates)
      .values({ kind: 'sign-in mails of tenant (new)', key: 'acme', fullAt: full + 60_000 })
  })
  t.match((await askForMail(world, acme)).asked.html, /Check your email/)
  await thoughtAbout(world, 1)
  t.match(world.signInMail.counts(), { sent: 0, held_back: 1 })
})

t.test('fifty times at once: one session, and the ticket is used once', async (t) => {
  const { world, acme } = await startByMail(t)
  const visit = await askForMail(world, acme)
  const { text } = await visit.mail()
  const pressed = Array.from({ length: 50 }, (_item, number) =>
    visit.postOnce(number % 2 === 0 ? { code: codeIn(text) } : { ticket: ticketIn(text) }),
  )
  const answers = await Promise.all(pressed)
  const given = answers.filter(({ headers }) =>
    headers.getSetCookie().some((line) => line.includes('_attempt_')),
  )
  t.equal(given.length, 1)
  t.equal(world.signInMail.counts().used, 1)
  const rows = (await recordedSignIns(world)).filter(({ outcome }) => outcome === 'signed_in')
  t.equal(rows.length, 1)
})

t.test('the Host is poisoned, another site sends the forms', async (t) => {
  const { world, acme } = await startByMail(t)
  const visit = await begin(world, acme)
  await visit.send({ username: 'ada', by_email: '1' }, POISON)
  const mail = await untilFound(() => world.sentMails[0])
  t.notMatch(JSON.stringify(mail), /evil/)
  t.ok(linkIn(mail.text).startsWith(world.baseUrl))
  const url = linkIn(mail.text).replace(/\?.*/, '')
  for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }])
    for (const fields of [{ code: codeIn(mail.text) }, { again: '1' }])
      t.equal((await visit.browser.submit(url, fields, headers)).response.status, 403)
  const opened = await visit.browser.visit(linkIn(mail.text))
  t.equal(opened.response.headers.get('referrer-policy'), 'same-origin')
  t.match(opened.response.headers.get('cache-control'), /no-store/)
  t.notMatch(opened.html.replace(/value="[^"]*"/, ''), new RegExp(ticketIn(mail.text)))
})

t.test('where a connection is required there is no way around it', async (t) => {
  const { world, tenant } = await startConnected(t)
  const settings = { email_sign_in: true, sign_in: 'break_glass' } as const
  await world.policies.put('acme', 'password', settings, ACTOR)
  const flow = await (await relyingParty(tenant)).begin()
  const browser = new Browser(world.baseUrl)
  const page = new URL((await browser.once(flow.url)).headers.get('location') ?? '', flow.url).href
  t.notMatch((await browser.visit(`${page}&emergency`)).html, /by_email/)
  const asked = await browser.submit(page, { username: 'ada', by_email: '1' })
  t.match(asked, { response: { status: 422 }, html: /emergency access/ })
  await world.policies.put('acme', 'password', { email_sign_in: true }, ACTOR)
  const open = await begin(world, tenant)
  const sent = await open.send({ username: 'ada', by_email: '1' })
  t.match(sent.html, /Check your email/)
  const { text } = await untilFound(() => world.sentMails[0])
  await world.policies.put('acme', 'password', settings, ACTOR)
  const late = await open.browser.submit(sent.url, { code: codeIn(text) })
  t.notMatch(late.url, /code=/)
})

t.test('a proven domain leads to its provider, and no mail around it', async (t) => {
  const names = startNames()
  const { world, tenant, connection, peer } = await startConnected(t, {
    resolveTxt: names.resolveTxt,
  })
  await world.policies.put('acme', 'password', { email_sign_in: true }, ACTOR)
  const grace = { ...userNamed('grace'), email: 'grace@company.example' }
  await world.users.create('acme', grace, ACTOR)
  const before = await begin(world, tenant)
  const page = await before.send({ username: 'grace', by_email: '1' })
  const { text } = await untilFound(() => world.sentMails[0])

  await names.prove(world, connection)
  const late = await before.browser.submit(page.url, { code: codeIn(text) })
  t.match(late, { response: { status: 422 }, html: /expired/ }, 'asked for before')
  for (const username of ['grace@company.example', 'nobody@COMPANY.example']) {
    const visit = await begin(world, tenant)
    const sent = await visit.sendOnce({ username, by_email: '1' })
    t.ok(sent.url.startsWith(`${peer.issuer}/authorize?`), username)
  }
  const byName = await begin(world, tenant)
  t.match((await byName.send({ username: 'grace', by_email: '1' })).html, /Check your email/)
  await thoughtAbout(world, 2)
  t.match(world.signInMail.counts(), { sent: 1, nobody: 1 })
})

t.test('an address that only a provider has named reaches nobody’s account', async (t) => {
  const { peer, world, tenant, connection } = await startConnected(t)
  await world.policies.put('acme', 'password', { email_sign_in: true }, ACTOR)
  const visit = await begin(world, tenant)
  const start = `${visit.page.url.split('?')[0]}/connection/${connection.connectionId}`
  const sent = await visit.browser.once(start)
  await visit.browser.visit(peer.signIn(sent.headers.get('location') ?? '', GRACE))
  t.match(await world.users.byLogin('acme', 'grace@company.example'), { emailProvenAt: null })
  const asked = await begin(world, tenant)
  await asked.send({ username: 'grace@company.example', by_email: '1' })
  await thoughtAbout(world, 1)
  t.match(world.signInMail.counts(), { sent: 0, nobody: 1 })
})

t.test('whoever connects an account shows its password, not that they read its mail', async (t) => {
  const { peer, world, tenant, connection } = await startConnected(t)
  await world.policies.put('acme', 'password', { email_sign_in: true }, ACTOR)
  const visit = await begin(world, tenant)
  const start = `${visit.page.url.split('?')[0]}/connection/${connection.connectionId}`
  const sent = await visit.browser.once(start)
  const ada = { ...GRACE, sub: 'eve', email: 'ada@example.test' }
  const page = await visit.browser.visit(peer.signIn(sent.headers.get('location') ?? '', ada))
  t.match(page.html, /already an account with your email address/)
  t.notMatch(page.html, /by_email/)
  const asked = await visit.send({ username: 'ada', by_email: '1' })
  t.notMatch(asked.html, /Check your email/)
  t.equal(world.sentMails.length, 0)
})

t.test('people of a tenant’s own database, and of another tenant, get none', async (t) => {
  const { world, acme } = await startByMail(t)
  const bolt = await world.tenant('bolt')
  const visit = await begin(world, bolt)
  t.notMatch((await visit.send({ username: 'ada', by_email: '1' })).html, /Check your email/)
  const { userId } = acme.ada
  await world.store.change(async ({ queries }) => {
    const { updateUser } = await import('../../../control-plane/store/queries/users.ts')
    await updateUser(queries, 'acme', userId, { source: 'directory' })
  })
  t.match((await askForMail(world, acme)).asked.html, /Check your email/)
  await thoughtAbout(world, 1)
  t.match(world.signInMail.counts(), { sent: 0, nobody: 1 })
})
