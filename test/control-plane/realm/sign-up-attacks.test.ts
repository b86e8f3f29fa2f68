/** Attacks on self sign-up: who has an account, taking one over beforehand, and floods. */
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { accountWithoutCredentials } from '../../../control-plane/accounts/user-changes.ts'
import { insertUser, updateUser } from '../../../control-plane/store/queries/users.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { CONSOLE_REALM } from '../../../control-plane/store/reserved.ts'
import { movableClock } from '../../support/control-plane.ts'
import { untilFound } from '../../support/fleet.ts'
import { giveRole } from '../../support/console.ts'
import { codeIn, linkIn, ticketIn } from './mail-visits.ts'
import { ACTOR, userNamed, type World } from './realm-world.ts'
import { begin, setPolicy } from './steps.ts'
import {
  askForAccount,
  DETAILS,
  GRACE,
  NEW_PASSWORD,
  signUp,
  startSignUp,
  usersOf,
  waitingOf,
} from './sign-up-visits.ts'

const ADA_ADDRESS = 'ada@example.test'

/** Until so many have been thought about, whatever came of each. */
const thoughtAbout = (world: World, many: number) =>
  untilFound(() => {
    const { sent, known, waits, nobody, held_back } = world.signUpMail.counts()
    return sent + known + waits + nobody + held_back >= many ? true : undefined
  })

const fill = (
  world: World,
  kind: string,
  key: string,
  { burst, perSecond }: RateOf,
  left: number,
) =>
  world.store.change(async ({ queries, nowMs }) => {
    const fullAt = nowMs + ((burst - left) * 1000) / perSecond
    await queries.insert(schema.rates).values({ kind, key, fullAt })
  })
type RateOf = { readonly burst: number; readonly perSecond: number }

t.test(
  'the page is the same whether there is an account, and is there before anybody looks',
  async (t) => {
    let begun = 0
    const { world, acme } = await startSignUp(
      t,
      { sign_up: 'approval' },
      { adapt: () => ({ behindAnswer: () => void begun++ }) },
    )
    const pageOf = async (email: string) => {
      const { asked, looks } = await askForAccount(world, acme, email)
      const plain = (html: string) => html.replaceAll(email, 'X').replaceAll(/sign-in\/[\w-]+/g, '')
      return [plain(asked.html), plain((await looks()).html)]
    }
    t.same(await pageOf(ADA_ADDRESS), await pageOf('nobody@company.example'))
    t.equal(begun, 2, 'nothing has been looked up, and the answers are there')
    t.same(world.sentMails, [])
  },
)

t.test('whoever has an account gets a mail that says so, and its code is none', async (t) => {
  const { world, acme } = await startSignUp(t)
  const visit = await askForAccount(world, acme, ADA_ADDRESS)
  const mail = await visit.mail()
  t.match(mail, { to: ADA_ADDRESS, subject: /already have an account/ })
  t.equal(codeIn(mail.text), '')
  t.equal(ticketIn(mail.text), '', 'and its link opens nothing by itself')
  t.ok(linkIn(mail.text).endsWith('/account/forgotten'))
  t.same(await world.store.read.select().from(schema.accountTickets), [])
  t.match(await visit.post(DETAILS), { response: { status: 422 }, html: /has expired, was used/ })
  t.match(world.signUpMail.counts(), { known: 1, sent: 0 })
})

t.test(
  'whoever waits is told that they do, and a second request changes nothing of the first',
  async (t) => {
    const { world, acme } = await startSignUp(t, { sign_up: 'approval' })
    const late = await askForAccount(world, acme)
    await late.confirm()
    await signUp(world, acme)
    t.match((await waitingOf(world)).length, 1)
    const [first] = await waitingOf(world)
    const other = {
      name: 'Eve',
      password: 'another password of eve',
      repeated: 'another password of eve',
    }
    t.match((await late.post(other)).html, /Waiting for approval/, 'who has read the mail as well')
    t.same(await waitingOf(world), [first])
    const again = await askForAccount(world, acme)
    t.match(await again.mail(), { subject: /is waiting for approval/ })
    t.equal(codeIn((await again.mail()).text), '')
  },
)

t.test('whoever comes to an account otherwise wins, and the one who waits is over', async (t) => {
  const { world, acme } = await startSignUp(t, { sign_up: 'approval' })
  const person = (email: string) =>
    accountWithoutCredentials({ tenantId: 'acme', username: email, email, name: 'X' }, 1)
  const ways: Record<string, (email: string) => Promise<unknown>> = {
    invited: (email) =>
      world.users.create('acme', { username: 'i', email, name: 'I', password: '' }, ACTOR),
    provisioned: (email) => world.store.change(({ queries }) => insertUser(queries, person(email))),
    renamed: async (email) =>
      world.store.change(({ queries }) =>
        updateUser(queries, 'acme', acme.ada.userId, { email, emailKey: email }),
      ),
  }
  for (const [way, come] of Object.entries(ways)) {
    const email = `${way}@company.example`
    await signUp(world, acme, email)
    const [waiting] = await waitingOf(world)
    await come(email)
    t.same(await waitingOf(world), [], way)
    await t.rejects(world.signUps.approve('acme', waiting?.signUpId ?? '', ACTOR), {
      code: 'sign_up_not_found',
    })
    const tries = await (await begin(world, acme)).send({ username: email, password: NEW_PASSWORD })
    t.equal(tries.response.status, 422, `${way}: the password of the request opens nothing`)
  }
})

t.test('an account that comes between the code and the name stays whose it is', async (t) => {
  for (const signUpMode of ['open', 'approval'] as const) {
    const { world, acme } = await startSignUp(t, { sign_up: signUpMode })
    const visit = await askForAccount(world, acme)
    await visit.confirm()
    const invited = { ...userNamed('grace'), email: GRACE, password: '' }
    const { userId } = await world.users.create('acme', invited, ACTOR)
    const answer = await visit.post(DETAILS)
    t.match(answer, { response: { status: 422 }, html: /already have an account/ }, signUpMode)
    t.match(await world.users.get('acme', userId), { passwordHash: '', name: 'Ada Lovelace' })
    t.same(await waitingOf(world), [])
  }
})

t.test('fifty times at once: one account, one request', async (t) => {
  for (const signUpMode of ['open', 'approval'] as const) {
    const { world, acme } = await startSignUp(t, { sign_up: signUpMode })
    const visit = await askForAccount(world, acme)
    await visit.confirm()
    const body = () => new URLSearchParams(DETAILS)
    await Promise.all(
      Array.from({ length: 50 }, () =>
        visit.browser.once(visit.url, { method: 'POST', body: body() }),
      ),
    )
    const found = [(await usersOf(world)).length, (await waitingOf(world)).length]
    t.same(found, signUpMode === 'open' ? [2, 0] : [1, 1])
  }
})

t.test(
  'who has planted a sign-in in a browser does not go on with what is proven there',
  async (t) => {
    const { world, acme } = await startSignUp(t)
    const victim = await askForAccount(world, acme)
    const planted = victim.browser.cookies.map((one) =>
      one.name.includes('_attempt_') ? { ...one, value: `${one.value.slice(0, -4)}AAAA` } : one,
    )
    await victim.confirm()
    const thief = await begin(world, acme)
    thief.browser.forgetCookies()
    thief.browser.remember(planted)
    const answer = await thief.browser.submit(victim.url, DETAILS)
    t.notMatch(answer.html, /is confirmed|Waiting/)
    t.equal((await usersOf(world)).length, 1)
  },
)

t.test('forms of other sites begin nothing', async (t) => {
  const { world, acme } = await startSignUp(t)
  const { browser, page } = await begin(world, acme)
  const url = `${page.url.split('?')[0]}/sign-up`
  const answer = await browser.submit(url, { email: GRACE }, { origin: 'https://evil.example' })
  t.equal(answer.response.status, 403)
  t.equal(world.signUpMail.counts().sent, 0)
})

t.test('mails to one address, of one client and of one tenant are bounded', async (t) => {
  const clock = movableClock(Date.now())
  const { world, acme } = await startSignUp(t, { sign_up: 'open' }, { clock })
  const { burst } = LIMITS.rateSignInMailsOfAddress
  for (let round = 0; round < burst + 1; round++) {
    t.match((await askForAccount(world, acme)).asked.html, /An email to/, 'which nobody sees')
    await thoughtAbout(world, round + 1)
  }
  t.match(world.signUpMail.counts(), { sent: burst, held_back: 1 })

  const { world: other, acme: same } = await startSignUp(t, { sign_up: 'open' }, { clock })
  await fill(other, 'sign-up mails of tenant', 'acme', LIMITS.rateSignUpMailsOfTenant, 1)
  for (const email of ['n@company.example', 'n1@company.example'])
    await askForAccount(other, same, email)
  await thoughtAbout(other, 2)
  t.match(other.signUpMail.counts(), { sent: 1, held_back: 1 }, 'N, and not N + 1')
})

t.test('one client asks for mails to everybody: it is told to wait', async (t) => {
  const clock = movableClock(Date.now())
  const { world, acme } = await startSignUp(t, { sign_up: 'open' }, { clock })
  let number = 0
  const ask = async () => (await askForAccount(world, acme, `n${number++}@company.example`)).asked
  for (let round = 0; round < LIMITS.rateSignUpMailsOfClient.burst; round++)
    t.equal((await ask()).response.status, 200)
  const refused = await ask()
  t.equal(refused.response.status, 429)
  t.equal(refused.response.headers.get('retry-after'), '60')
})

t.test(
  'accounts and requests of a day are bounded, from one network and in a tenant',
  async (t) => {
    const clock = movableClock(Date.now())
    for (const [kind, key, rate, mode] of [
      ['sign-ups of client', 'acme 127.0.0.1', LIMITS.rateSignUpsOfClientADay, 'open'],
      ['sign-ups of tenant', 'acme', LIMITS.rateSignUpsOfTenantADay, 'open'],
      ['sign-ups of tenant', 'acme', LIMITS.rateSignUpsOfTenantADay, 'approval'],
    ] as const) {
      const { world, acme } = await startSignUp(t, { sign_up: mode }, { clock })
      await fill(world, kind, key, rate, 1)
      t.not((await signUp(world, acme)).done.response.status, 429, `${kind}: N`)
      const { done } = await signUp(world, acme, 'late@company.example')
      t.match(
        done,
        { response: { status: 429 }, html: /No new accounts right now/ },
        `${kind}: N + 1`,
      )
      const made =
        mode === 'open' ? (await usersOf(world)).length - 1 : (await waitingOf(world)).length
      t.equal(made, 1)
    }
  },
)

t.test('so many people wait in a tenant, and no more', async (t) => {
  const { world, acme } = await startSignUp(t, { sign_up: 'approval' })
  await world.store.change(async ({ queries, nowMs }) => {
    for (let number = 0; number < LIMITS.signUpsWaitingMax - 1; number++)
      await queries.insert(schema.signUps).values({
        ...{
          signUpId: `sup_${number}`,
          tenantId: 'acme',
          email: `${number}`,
          emailKey: `${number}`,
        },
        ...{ name: 'N', passwordHash: '', language: 'en', applicationUrl: '', ip: '' },
        ...{ provenAt: nowMs, createdAt: nowMs, expiresAt: nowMs + 1000, toldAt: nowMs },
      })
  })
  t.match((await signUp(world, acme)).done.html, /Waiting for approval/, 'N')
  t.match((await signUp(world, acme, 'late@company.example')).done.response.status, 429, 'N + 1')
  t.equal((await waitingOf(world)).length, LIMITS.signUpsWaitingMax)
})

t.test(
  'administrators get one mail of all who wait, once an hour, with no word of theirs',
  async (t) => {
    const clock = movableClock(Date.now())
    const { world, acme } = await startSignUp(t, { sign_up: 'approval' }, { clock })
    await world.consoleAccess.ensureRealm()
    const boss = await world.users.create(CONSOLE_REALM, userNamed('boss'), ACTOR)
    await giveRole(world, boss.userId, 'acme')
    const told = () => world.sentMails.filter(({ to }) => to === boss.email)
    await signUp(world, acme, 'a@company.example')
    await signUp(world, acme, 'b@company.example')
    await world.jobs.run()
    await world.mails.deliver()
    t.match(told(), [
      {
        subject: /account requests are waiting/,
        text: /waiting for approval of an account at .*: 2\./,
      },
    ])
    t.notMatch(told()[0]?.text, /Grace|company\.example/)
    await world.jobs.run()
    await signUp(world, acme, 'c@company.example')
    clock.advance(3_590_000)
    await world.jobs.run()
    await world.mails.deliver()
    t.equal(told().length, 1, 'not before the hour is over')
    clock.advance(20_000)
    await world.jobs.run()
    await world.mails.deliver()
    t.match(told(), [{}, { text: /: 3\./ }])
    clock.advance(10 * 3_600_000)
    await world.jobs.run()
    t.equal(told().length, 2, 'and not again of the same')
  },
)

t.test('a tenant that goes takes those who wait along', async (t) => {
  const { world, acme } = await startSignUp(t, { sign_up: 'approval' })
  await signUp(world, acme)
  await world.tenants.remove('acme', ACTOR)
  t.same(await waitingOf(world), [])
})

t.test('a tenant whose people are in a database of its own cannot open it', async (t) => {
  const { world, acme } = await startSignUp(t, { sign_up: 'approval' })
  const underWay = await askForAccount(world, acme)
  await underWay.confirm()
  await world.store.change(({ queries }) =>
    queries.insert(schema.userDirectories).values({
      ...{ tenantId: 'acme', settings: {} as never, passwordSealed: '', updatedAt: 1 },
    }),
  )
  await t.rejects(setPolicy(world, 'password', { sign_up: 'open' }), {
    code: 'field_invalid',
    fields: { field: 'sign_up' },
  })
  t.notMatch((await underWay.post(DETAILS)).html, /Waiting for approval/)
  t.same(await waitingOf(world), [])
  t.notMatch((await begin(world, acme)).page.html, /Create an account/)
})
