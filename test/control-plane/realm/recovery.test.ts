import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { movableClock } from '../../support/control-plane.ts'
import { untilFound } from '../../support/fleet.ts'
import {
  ACTOR,
  Browser,
  PASSWORD,
  relyingParty,
  sidOf,
  signIn,
  startWorld,
  userNamed,
  type World,
} from './realm-world.ts'

const NEW = 'lamp otter viaduct 88 quince'
const POISON = { host: 'evil.example', 'x-forwarded-host': 'evil.example' }

const linkIn = (text: string) => /https?:\/\/\S+/.exec(text)?.[0] ?? ''

async function forgotten(world: World, issuer: string, username: string, headers = {}) {
  const browser = new Browser(world.baseUrl)
  return browser.submit(`${issuer}/account/forgotten`, { username }, headers)
}

const both = (password: string, repeated = password) => ({ password, repeated })

t.test('forgotten, mailed, chosen: the new one signs in, the old one does not', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const elsewhere = await signIn(new Browser(world.baseUrl), acme)
  const asked = await forgotten(world, acme.issuer, 'ADA')
  t.equal(asked.response.status, 200)
  t.match(asked.html, /Check your email/)
  const mail = await untilFound(() =>
    world.sentMails.find(({ text }) => text.includes('/new-password')),
  )
  t.equal(mail.to, 'ada@example.test')
  const link = linkIn(mail.text)
  t.ok(link.startsWith(`${acme.issuer}/account/new-password?ticket=`))

  const browser = new Browser(world.baseUrl)
  const page = await browser.visit(link)
  t.match(page.html, /Choose a new password/)
  t.match(page.html, /name="username"[^>]*value="ada"/, 'for password managers')
  t.match((await browser.visit(link)).html, /Choose a new password/, 'looking uses nothing up')
  t.match(await browser.submit(link, both(NEW, 'another')), {
    response: { status: 422 },
    html: /passwords do not match/,
  })
  t.match(await browser.submit(link, both('short')), { response: { status: 422 }, html: /short/ })
  t.match(await browser.submit(link, both('password1')), { html: /easy to guess/ })
  const saved = await browser.submit(link, both(NEW))
  t.equal(saved.response.status, 200)
  t.match(saved.html, /Password changed/)

  t.match(await browser.visit(link), { response: { status: 410 }, html: /no longer works/ })
  t.match(await browser.submit(link, both(PASSWORD)), { response: { status: 410 } })
  await t.rejects(signIn(new Browser(world.baseUrl), acme), 'the old one')
  const credentials = { username: 'ada', password: NEW }
  t.ok(await signIn(new Browser(world.baseUrl), acme, {}, credentials))
  await untilFound(() => world.sentMails.find(({ subject }) => /was changed/.test(subject)))
  const ended = await world.sessions.find('acme', sidOf(elsewhere.tokens))
  t.equal(ended?.endReason, 'password_reset', 'whoever was signed in is out')
  t.notMatch(world.logged.join(''), new RegExp(new URL(link).searchParams.get('ticket') ?? '-'))
})

t.test('an account that is not there is answered the same, and gets no mail', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const [known, unknown] = [
    await forgotten(world, acme.issuer, 'ada'),
    await forgotten(world, acme.issuer, 'nobody'),
  ]
  t.equal(unknown.html, known.html)
  t.equal(unknown.response.status, known.response.status)
  await untilFound(() => world.sentMails[0])
  await sleep(50)
  t.equal(world.sentMails.length, 1)
})

t.test('what is done for a forgotten password does not show in the next answer', async (t) => {
  const held: (() => Promise<void>)[] = []
  let begun = 0
  const world = await startWorld(t, {
    adapt: ({ accountMail }) => ({
      behindAnswer: (work) => void held.push(work),
      accountMail: {
        ...accountMail,
        forgotten: (...asked) => (begun++, accountMail.forgotten(...asked)),
      },
    }),
  })
  const acme = await world.tenant('acme')
  for (const login of ['ada', 'nobody']) {
    const { html } = await forgotten(world, acme.issuer, login)
    t.match(html, /email/)
  }
  t.same([begun, held.length], [0, 2], 'two answers later')
  for (const work of held) await work()
  t.equal(begun, 2)
  await untilFound(() => world.sentMails[0])
})

t.test(
  'a mailbox is flooded: three links an hour, and only the newest ones’ account',
  async (t) => {
    const clock = movableClock(Date.now())
    const world = await startWorld(t, { clock })
    const acme = await world.tenant('acme')
    for (let round = 0; round < 6; round++) await forgotten(world, acme.issuer, 'ada')
    await untilFound(() => world.sentMails[2])
    await sleep(100)
    t.equal(world.sentMails.length, 3)
    clock.advance(3_600_001)
    await forgotten(world, acme.issuer, 'ada')
    await untilFound(() => world.sentMails[3])
  },
)

t.test('one link is used fifty times at once: one wins', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await forgotten(world, acme.issuer, 'ada')
  const link = linkIn((await untilFound(() => world.sentMails[0])).text)
  const choices = Array.from({ length: 50 }, (_item, index) => `${NEW} number ${index}`)
  const answers = await Promise.all(
    choices.map((choice) => new Browser(world.baseUrl).submit(link, both(choice))),
  )
  const winners = choices.filter((_choice, index) => answers[index]?.response.status === 200)
  t.equal(winners.length, 1)
  const others = answers.map(({ response }) => response.status).filter((status) => status !== 200)
  t.ok(others.every((status) => status === 410 || status === 422 || status === 503))
  t.match(await world.users.authenticate('acme', 'ada', winners[0] ?? ''), { kind: 'ok' })
})

t.test('a link is tried elsewhere: another realm, another page, another time', async (t) => {
  const clock = movableClock(Date.now())
  const world = await startWorld(t, { clock })
  const [acme, bolt] = [await world.tenant('acme'), await world.tenant('bolt')]
  await forgotten(world, acme.issuer, 'ada')
  const link = linkIn((await untilFound(() => world.sentMails[0])).text)
  const browser = new Browser(world.baseUrl)
  const status = async (url: string) => (await browser.visit(url)).response.status
  t.equal(await status(link.replace('/acme/', '/bolt/')), 410)
  t.equal(await status(link.replace('new-password', 'invitation')), 410)
  t.equal(await status(link.replace('new-password', 'new-email')), 410)
  t.equal(await status(`${bolt.issuer}/account/new-password?ticket=`), 410)
  t.equal(await status(`${link}&ticket=another`), 410, 'a ticket that comes twice')
  t.equal(await status(link), 200)
  clock.advance(3_600_000)
  t.equal(await status(link), 410)
})

t.test('the Host header is poisoned: the link in the mail is ours', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await forgotten(world, acme.issuer, 'ada', { 'x-forwarded-host': POISON['x-forwarded-host'] })
  const mail = await untilFound(() => world.sentMails[0])
  t.notMatch(JSON.stringify(mail), /evil/)
})

t.test('another site sends the forms: refused', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await forgotten(world, acme.issuer, 'ada')
  const link = linkIn((await untilFound(() => world.sentMails[0])).text)
  for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
    const browser = new Browser(world.baseUrl)
    const answers = [
      await browser.submit(`${acme.issuer}/account/forgotten`, { username: 'ada' }, headers),
      await browser.submit(link, both(NEW), headers),
    ]
    for (const { response } of answers) t.equal(response.status, 403)
  }
  t.match(await world.users.authenticate('acme', 'ada', PASSWORD), { kind: 'ok' })
})

t.test('somebody who is invited chooses a password, and their address is proven', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const grace = { username: 'grace', email: 'grace@example.test', name: 'Grace', password: '' }
  const { userId } = await world.users.create('acme', grace, ACTOR)
  t.match(await world.users.authenticate('acme', 'grace', ''), { kind: 'refused' })
  await world.accountMail.invite('acme', userId, ACTOR, 'de')
  const mail = await untilFound(() => world.sentMails[0])
  t.match(mail.subject, /eingeladen/, 'in the language of the invitation')
  const browser = new Browser(world.baseUrl)
  const link = linkIn(mail.text)
  t.match((await browser.visit(link)).html, /Choose your password/)
  t.match(
    (await browser.submit(link, both(NEW))).html,
    /Password saved.*You can sign in with it now/s,
  )
  const credentials = { username: 'grace', password: NEW }
  t.ok(await signIn(new Browser(world.baseUrl), acme, {}, credentials))
  t.ok((await world.users.get('acme', userId)).emailProvenAt)
})

t.test('a new address proves itself; the old one is told', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const { ada, issuer } = acme
  t.ok(await world.accountMail.confirmEmail(ada, 'countess@example.test', ACTOR, 'en'))
  const mail = await untilFound(() => world.sentMails[0])
  t.equal(mail.to, 'countess@example.test')
  const browser = new Browser(world.baseUrl)
  const link = linkIn(mail.text)
  t.ok(link.startsWith(`${issuer}/account/new-email?ticket=`))
  await signIn(browser, acme)
  t.match((await browser.visit(link)).html, /Confirm your email address/)
  t.equal((await world.users.get('acme', ada.userId)).email, 'ada@example.test', 'only looked at')
  t.match((await browser.submit(link, {})).html, /Email address changed/)
  t.match(await world.users.get('acme', ada.userId), { email: 'countess@example.test' })
  const told = await untilFound(() =>
    world.sentMails.find(({ subject }) => / was changed/.test(subject)),
  )
  t.equal(told.to, 'ada@example.test')
  t.equal((await browser.submit(link, {})).response.status, 410)
})

t.test('nobody gives their mailbox to the account of somebody else by a button', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await world.users.create('acme', { ...userNamed('eve'), password: PASSWORD }, ACTOR)
  const { ada } = acme
  await world.accountMail.confirmEmail(ada, 'eve@example.com', ACTOR, 'en')
  const link = linkIn((await untilFound(() => world.sentMails[0])).text)
  const [nobody, eve] = [new Browser(world.baseUrl), new Browser(world.baseUrl)]
  await signIn(eve, acme, {}, { username: 'eve', password: PASSWORD })
  for (const browser of [nobody, eve])
    for (const answer of [await browser.visit(link), await browser.submit(link, {})])
      t.match(answer, { response: { status: 403 }, html: /Sign in to confirm this address/ })
  t.match(await world.users.get('acme', ada.userId), { email: 'ada@example.test' })
  const own = new Browser(world.baseUrl)
  await signIn(own, acme)
  t.match((await own.submit(link, {})).html, /Email address changed/, 'and the link is good still')
})

t.test('who is disabled, and who is kept elsewhere, gets no link', async (t) => {
  const world = await startWorld(t)
  const { ada, issuer } = await world.tenant('acme')
  await world.users.patch('acme', ada.userId, { isDisabled: true }, ACTOR)
  await forgotten(world, issuer, 'ada')
  await sleep(100)
  t.strictSame(world.sentMails, [])
})

t.test('the sign-in page leads there, and back', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const { url } = await (await relyingParty(acme)).begin()
  const browser = new Browser(world.baseUrl)
  const page = await browser.visit(url)
  t.match(page.html, `${acme.issuer}/account/forgotten`)
  const forgot = await browser.visit(`${acme.issuer}/account/forgotten`)
  t.equal(forgot.response.status, 200)
  t.match(forgot.html, /Forgot your password/)
})

t.test(
  'a link dies with what it was sent for: another password, address, or no account',
  async (t) => {
    const world = await startWorld(t)
    const acme = await world.tenant('acme')
    const { ada, issuer } = acme
    const browser = new Browser(world.baseUrl)
    await signIn(browser, acme)
    const status = async (link: string) => (await browser.visit(link)).response.status
    const newest = async (count: number) =>
      linkIn((await untilFound(() => world.sentMails[1 + count])).text) // behind that of the sign-in
    await untilFound(() => world.sentMails[0])

    await world.accountMail.confirmEmail(ada, 'eve@evil.example', ACTOR, 'en')
    const address = await newest(0)
    t.equal(await status(address), 200)
    await world.users.patch('acme', ada.userId, { password: NEW }, ACTOR)
    t.equal(
      await status(address),
      410,
      'whoever asked for another address is out with the password',
    )

    await forgotten(world, issuer, 'ada')
    const reset = await newest(1)
    t.equal(await status(reset), 200)
    await world.users.patch('acme', ada.userId, { email: 'countess@example.test' }, ACTOR)
    t.equal(await status(reset), 410, 'it lies in the mailbox from before')

    await world.accountMail.invite('acme', ada.userId, ACTOR, 'en')
    const invitation = await newest(2)
    t.equal(await status(invitation), 200)
    await world.users.remove('acme', ada.userId, ACTOR)
    t.equal(await status(invitation), 410)
  },
)

t.test(
  'a mail to an address that is not proven says nothing that a person has typed',
  async (t) => {
    const world = await startWorld(t)
    const { ada } = await world.tenant('acme')
    await world.users.patch('acme', ada.userId, { name: 'Visit https://evil.example' }, ACTOR)
    const named = await world.users.get('acme', ada.userId)
    await world.accountMail.confirmEmail(named, 'victim@example.test', ACTOR, 'en')
    t.notMatch((await untilFound(() => world.sentMails[0])).text, /evil/)
  },
)
