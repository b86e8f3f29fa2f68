/** What changes while a sign-in by email is under way, and what a stranger can see or use up of others'. */
import Database from 'better-sqlite3'
import t from 'tap'
import { schema } from '../../../control-plane/store/schema.ts'
import { leftOfRate } from '../../../control-plane/store/queries/rates.ts'
import { updateUser } from '../../../control-plane/store/queries/users.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { untilFound } from '../../support/fleet.ts'
import { startConnected, startNames } from './connections/connected.ts'
import { askForMail, codeIn, startByMail } from './mail-visits.ts'
import { ACTOR, userNamed, type TestTenant, type World } from './realm-world.ts'
import { begin, enrolApp, isAskingForPassword, recordedSignIns, setPolicy } from './steps.ts'

/** The code of the mail was right, and the one of the app is asked for. */
async function atSecondFactor(world: World, tenant: TestTenant, login: string, userId: string) {
  await setPolicy(world, 'password', { email_sign_in: true })
  const app = await enrolApp(world, tenant, userId)
  const visit = await askForMail(world, tenant, login)
  const page = await visit.post({ code: codeIn((await visit.mail()).text) })
  return { page, goOn: () => visit.browser.submit(visit.page.url, { code: app.code() }) }
}

t.test(
  'the address changes before the second factor: what went to the old one opens nothing',
  async (t) => {
    const { world, acme } = await startByMail(t)
    const { userId } = acme.ada
    const kept = await atSecondFactor(world, acme, 'ada', userId)
    await world.users.patch('acme', userId, { name: 'Ada L.' }, ACTOR)
    t.match((await kept.goOn()).url, /code=/, 'another change ends nothing')

    const visit = await askForMail(world, acme, 'ada')
    const page = await visit.post({ code: codeIn((await visit.mail()).text) })
    t.match(page.html, /authenticator app/)
    await world.users.patch('acme', userId, { email: 'ada@elsewhere.test' }, ACTOR)
    t.ok(isAskingForPassword((await visit.browser.visit(visit.page.url)).html))
  },
)

t.test('the domain leads to a provider before the second factor: nor does the mail', async (t) => {
  const names = startNames()
  const { world, tenant, connection } = await startConnected(t, { resolveTxt: names.resolveTxt })
  const wished = { ...userNamed('grace'), email: 'grace@company.example' }
  const { userId } = await world.users.create('acme', wished, ACTOR)
  const { page, goOn } = await atSecondFactor(world, tenant, 'grace', userId)
  t.match(page.html, /authenticator app/)
  await names.prove(world, connection)
  t.notMatch((await goOn()).url, /code=/)
})

t.test('nor does an address that only a provisioning provider has named get a mail', async (t) => {
  const { world, acme } = await startByMail(t)
  const by = { token: { tenantId: 'acme', connectionId: null }, actor: ACTOR } as never
  const { user } = await world.scimPeople.create(by, {
    userName: 'grace@company.example',
    emails: [{ value: 'grace@company.example', primary: true }],
  })
  t.match(user, { email: 'grace@company.example', emailProvenAt: null })
  await askForMail(world, acme, 'grace@company.example')
  await untilFound(() => {
    const { sent, nobody } = world.signInMail.counts()
    return sent + nobody === 1 ? true : undefined
  })
  t.match(world.signInMail.counts(), { sent: 0, nobody: 1 })
  await world.store.change(async ({ queries }) => {
    await updateUser(queries, 'acme', user.userId, { emailProvenAt: 1 })
  })
  const proven = await askForMail(world, acme, 'grace@company.example')
  t.equal((await proven.mail()).to, 'grace@company.example', 'until she has shown that it is hers')
})

t.test('a flood at a whole tenant keeps nobody out of a browser that they have used', async (t) => {
  const { world, acme } = await startByMail(t)
  const own = await askForMail(world, acme)
  await own.claims((await own.post({ code: codeIn((await own.mail()).text) })).url)
  const { burst, perSecond } = LIMITS.rateSignInMailsOfTenant
  const fullAt = world.clock.nowMs() + (burst * 1000) / perSecond + 60_000
  await world.store.change(async ({ queries }) => {
    const { rates } = schema
    const areOfTenant = (await queries.select().from(rates)).filter(({ kind }) =>
      kind.startsWith('sign-in mails of tenant'),
    )
    t.equal(areOfTenant.length, 1)
    for (const { kind } of areOfTenant)
      await queries
        .insert(rates)
        .values({ kind, key: 'acme', fullAt })
        .onConflictDoUpdate({ target: [rates.kind, rates.key], set: { fullAt } })
  })
  const thought = (count: number) =>
    untilFound(() => {
      const { sent, held_back } = world.signInMail.counts()
      return sent + held_back === count ? true : undefined
    })
  await askForMail(world, acme)
  await thought(2)
  t.match(world.signInMail.counts(), { sent: 1, held_back: 1 })
  own.browser.forgetCookies(({ name }) => name.includes('session'))
  await askForMail(world, acme, 'ada', { browser: own.browser })
  await thought(3)
  t.match(world.signInMail.counts(), { sent: 2, held_back: 1 })
  const { rateSignInMailsOfAddress: rate } = LIMITS
  const bucket = { kind: 'sign-in mails (new)', key: 'acme ada@example.test', rate }
  const left = await leftOfRate(world.store.read, bucket, world.clock.nowMs())
  t.equal(left, rate.burst - 1, 'what was held back has used up nothing of the address')
})

t.test('what is done for a mail does not show in the next answer either', async (t) => {
  const held: (() => Promise<void>)[] = []
  let begun = 0
  const { world, acme } = await startByMail(t, {
    adapt: ({ signInMail }) => ({
      behindAnswer: (work) => void held.push(work),
      signInMail: { ...signInMail, send: (...asked) => (begun++, signInMail.send(...asked)) },
    }),
  })
  for (const login of ['ada', 'nobody']) {
    const visit = await askForMail(world, acme, login)
    t.match((await visit.looks()).html, /Check your email/)
  }
  t.equal(begun, 0, 'two answers later')
  for (const work of held) void work()
  await untilFound(() => world.sentMails[0])
  t.equal(begun, 2)
})

t.test('asking reads the same of everybody, and nothing of anybody’s past', async (t) => {
  const read: string[] = []
  const { world, acme } = await startByMail(t, {
    adapt: ({ attempts, sessions, factors }) => ({
      behindAnswer: () => undefined,
      attempts: {
        ...attempts,
        addressesOf: (tenantId, userId) => (
          read.push(userId),
          attempts.addressesOf(tenantId, userId)
        ),
      },
      sessions: {
        ...sessions,
        aliveOf: (tenantId, userId, most) => (
          read.push(userId),
          sessions.aliveOf(tenantId, userId, most)
        ),
      },
      factors: {
        ...factors,
        kindsOf: (owner, queries) => (read.push(owner.userId), factors.kindsOf(owner, queries)),
      },
    }),
  })
  const counts = []
  for (const login of ['warms-up', 'ada', 'nobody', 'ada@example.test', 'nobody@example.test']) {
    const visit = await begin(world, acme)
    const counted = countStatements()
    await visit.sendOnce({ username: login, by_email: '1' })
    counts.push(counted.stop())
  }
  const [, ada, nobody, adaByAddress, nobodyByAddress] = counts
  t.same([ada, adaByAddress], [nobody, nobodyByAddress], 'an address is looked at for its domain')
  t.same([...new Set(read)], [''])

  const visit = await askForMail(world, acme)
  const signIns = (await recordedSignIns(world)).length
  t.equal((await visit.postOnce({ ticket: 'A'.repeat(32) })).status, 422)
  t.same([...new Set(read)], [''], 'nor a link of another mail, which is no guess')
  t.equal((await recordedSignIns(world)).length, signIns)
})

/** Of SQLite, in this process. */
function countStatements() {
  const own = Object.getPrototypeOf(new Database(':memory:').prepare('SELECT 1')) as Record<
    'all' | 'get' | 'run',
    (...given: unknown[]) => unknown
  >
  const { all, get, run } = own
  let count = 0
  for (const [name, work] of Object.entries({ all, get, run }))
    own[name as 'all'] = function (this: unknown, ...given) {
      count++
      return work.apply(this, given)
    }
  return { stop: () => (Object.assign(own, { all, get, run }), count) }
}
