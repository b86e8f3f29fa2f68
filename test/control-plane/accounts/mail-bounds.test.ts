/** Nobody fills a mailbox, nor the queue of mails: neither their own nor one of strangers. */
import t from 'tap'
import type { Mail } from '../../../control-plane/mail/mails.ts'
import type { User } from '../../../control-plane/accounts/users.ts'
import type { Change } from '../../../control-plane/store/store.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { OPERATOR_KEY } from '../../support/api.ts'
import { startConsole } from '../../support/console.ts'
import { ACTOR, movableClock } from '../../support/control-plane.ts'

const PASSWORD = 'a long walk along the harbour wall'
const PER_HOUR = LIMITS.rateNoticesOfPerson.burst
const MORE = /We will pause emails like this one for a while/
const HOUR_MS = 3_600_000

type Tap = Parameters<typeof startConsole>[0]

async function start(t: Tap) {
  const clock = movableClock()
  const mails: Mail[] = []
  const mailTransport = {
    send: async (mail: Mail) => void mails.push(mail),
    close: () => undefined,
  }
  const world = await startConsole(t, { clock, mailTransport })
  const { services, app } = world
  const { store, users, accountMail } = services
  const create = (username: string, tenantId = 'acme') => {
    const email = `${username}@acme.test`
    return users.create(tenantId, { username, email, name: username, password: '' }, ACTOR)
  }
  const ada = await create('ada')
  /** What is sent of what `work` has told. */
  async function sentOf(work: (change: Change) => Promise<void>): Promise<Mail[]> {
    await store.change(work)
    await services.mails.deliver()
    return mails.splice(0)
  }
  const newDevice = (user: User, language = 'en') =>
    sentOf((change) =>
      accountMail.newDevice(
        change,
        { user, ip: '192.0.2.1', userAgent: '', atMs: clock.nowMs() },
        language,
      ),
    )
  const post = async (path: string, body: unknown) => {
    const answer = await app.request(
      `${services.baseUrl}/api/v1/operator${path}`,
      {
        method: 'POST',
        headers: { authorization: `Bearer ${OPERATOR_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      },
      { address: '127.0.0.1' },
    )
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }
  return { ...world, clock, mails, create, ada, sentOf, newDevice, post }
}

t.test('of very many new browsers a person is told a few times, and that it is all', async (t) => {
  const { clock, ada, create, newDevice, sentOf, services } = await start(t)
  for (let told = 1; told < PER_HOUR; told++)
    t.notMatch(
      (await newDevice(ada)).map(({ text }) => text),
      [MORE],
      `mail ${told}`,
    )
  t.match(await newDevice(ada), [{ to: 'ada@acme.test', text: MORE }], 'the last says so')
  for (let more = 0; more < 20; more++) t.same(await newDevice(ada), [])

  t.equal((await newDevice(await create('bob'))).length, 1, 'somebody else is told')
  const { accountMail } = services
  const factors = await sentOf((change) =>
    accountMail.tellFactorsChanged(change, ada, 'passkey_added', 'en'),
  )
  t.match(factors, [{ subject: /second factors/ }], 'and of everything else')
  t.notMatch(factors[0]?.text, MORE)

  clock.advance(HOUR_MS / PER_HOUR)
  t.match(await newDevice(ada, 'de'), [{ text: /senden wir Ihnen vorerst nicht/ }])
  t.same(await newDevice(ada), [])
  clock.advance(2 * HOUR_MS)
  t.notMatch((await newDevice(ada))[0]?.text, MORE)
})

t.test('every kind of notice has its end', async (t) => {
  const { ada, sentOf, services } = await start(t)
  const { tellFactorsChanged, tellPasswordChanged, tellEmailChanged } = services.accountMail
  for (const tell of [
    (change: Change) => tellFactorsChanged(change, ada, 'codes_renewed', 'en'),
    (change: Change) => tellPasswordChanged(change, ada, 'en'),
    (change: Change) => tellEmailChanged(change, ada, 'eve@acme.test', 'en'),
  ]) {
    const sent = await sentOf(async (change) => {
      for (let count = 0; count < 2 * PER_HOUR; count++) await tell(change)
    })
    t.equal(sent.length, PER_HOUR)
    t.equal(sent.filter(({ text }) => MORE.test(text)).length, 1)
  }
})

t.test('a tenant invites so many people, and then makes none that has no mail', async (t) => {
  const { clock, create, person, post, services } = await start(t)
  const { store, accountMail, users } = services
  const carol = await create('carol')
  const invitedMost = (isKept: boolean) =>
    store.change(async (change) => {
      for (let count = 0; count < LIMITS.rateInvitations.burst; count++) {
        const others = { userId: `usr_${count}`, emailKey: `${count}@acme.test` }
        await accountMail.inviteIn(change, { ...carol, ...others }, ACTOR, '')
      }
      if (!isKept) throw new Error('undone')
    })
  await t.rejects(invitedMost(false), { message: 'undone' })
  await invitedMost(true) // what has not come about has used nothing up

  const bob = { username: 'bob', email: 'bob@acme.test' }
  const refused = await post('/tenants/acme/users', { ...bob, invite: true })
  t.match(refused, { status: 429, body: { error: 'rate_limited', retry_after: Number } })
  t.equal(await users.byLogin('acme', 'bob'), undefined)
  const form = { email: bob.email, name: 'Bob', username: '', password: '' }
  const admin = await person('acme')
  const page = await admin.post('/console/tenants/acme/users/new', form)
  t.match(page, { status: 429, text: /invited as many people as it can for now/ })
  t.equal(await users.byLogin('acme', bob.email), undefined)

  t.equal((await post('/tenants/acme/users', { ...bob, password: PASSWORD })).status, 201)
  t.equal((await post('/tenants/other/users', { ...bob, invite: true })).status, 201)
  clock.advance(HOUR_MS)
  const eve = { username: 'eve', email: 'eve@acme.test', invite: true }
  t.equal((await post('/tenants/acme/users', eve)).status, 201)
})

t.test('who is removed and made anew is not invited more often for it', async (t) => {
  const { mails, post, services } = await start(t)
  const most = LIMITS.rateInvitationsOfAddress.burst
  const eve = { username: 'eve', email: 'eve@elsewhere.test', invite: true }
  const statuses: number[] = []
  for (let count = 0; count <= most; count++) {
    const { status, body } = await post('/tenants/acme/users', eve)
    statuses.push(status)
    if (status === 201) await services.users.remove('acme', String(body['user_id']), ACTOR)
  }
  t.same(statuses, [201, 201, 201, 429])
  await services.mails.deliver()
  t.equal(mails.length, most)
})

t.test('what has not come about uses up nothing that a person is told', async (t) => {
  const { ada, newDevice, sentOf, services } = await start(t)
  const { tellEmailChanged } = services.accountMail
  const told = (change: Change) => tellEmailChanged(change, ada, 'eve@acme.test', 'en')
  for (let count = 0; count < 2 * PER_HOUR; count++) {
    const undone = services.store.change(async (change) => {
      await told(change)
      throw new Error('undone')
    })
    await t.rejects(undone, { message: 'undone' })
  }
  t.match(await sentOf(told), [{ to: 'ada@acme.test' }])
  for (let count = 1; count < PER_HOUR; count++) t.equal((await sentOf(told)).length, 1)
  t.same(await sentOf(told), [])
  t.equal((await newDevice(ada)).length, 1)
})
