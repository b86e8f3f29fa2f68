/** Nobody fills a mailbox, nor the queue of mails: neither their own nor one of strangers. */
import t from 'tap'
import type { Mail } from '../../../control-plane/mail/mails.ts'
import type { User } from '../../../control-plane/accounts/users.ts'
import { takeRate } from '../../../control-plane/store/queries/rates.ts'
import type { Change } from '../../../control-plane/store/store.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { OPERATOR_KEY } from '../../support/api.ts'
import { startConsole } from '../../support/console.ts'
import { ACTOR, movableClock } from '../../support/control-plane.ts'

const PASSWORD = 'a long walk along the harbour wall'
const PER_HOUR = LIMITS.rateNoticesOfPerson.burst
const MORE = /We will pause emails like this one for a while/
const HOUR_MS = 3_600_000
const EVERY_MS = HOUR_MS / LIMITS.rateInvitations.burst
const BOB = { username: 'bob', email: 'bob@acme.test' }

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

t.test('whoever makes an account again and again writes no more to its address', async (t) => {
  const { create, mails, services } = await start(t)
  const { accountMail, store, users } = services
  for (let count = 0; count < 2 * PER_HOUR; count++) {
    const bob = await create('bob')
    await store.change((change) => accountMail.tellEmailChanged(change, bob, 'eve@acme.test', 'en'))
    await accountMail.forgotten('acme', 'bob', ACTOR, 'en')
    await services.mails.deliver()
    await users.remove('acme', bob.userId, ACTOR)
  }
  const sent = Map.groupBy(mails, ({ subject }) => /^Reset/.test(subject))
  t.equal(sent.get(false)?.length, PER_HOUR)
  t.equal(sent.get(true)?.length, LIMITS.rateInvitationsOfAddress.burst)
})

/** Invites as many as go out at once. */
const inviteABurst = ({ services, ada }: Awaited<ReturnType<typeof start>>, isKept: boolean) =>
  services.store.change(async (change) => {
    for (let count = 0; count < LIMITS.rateInvitations.burst; count++) {
      const others = { userId: `usr_${count}`, emailKey: `${count}@acme.test` }
      await services.accountMail.inviteIn(change, { ...ada, ...others }, ACTOR, '')
    }
    if (!isKept) throw new Error('undone')
  })

t.test('a tenant invites so many people an hour, and others when it is their turn', async (t) => {
  const world = await start(t)
  const { clock, mails, person, post, services } = world
  const { users } = services
  await t.rejects(inviteABurst(world, false), { message: 'undone' })
  await inviteABurst(world, true) // what has not come about has used nothing up
  const sentTo = async () => {
    await services.mails.deliver()
    return mails.splice(0).map(({ to }) => to)
  }
  const names = ['bob', 'carol', 'dan', 'eve']
  for (const username of names) {
    const body = { username, email: `${username}@acme.test`, invite: true }
    t.equal((await post('/tenants/acme/users', body)).status, 201, 'the person is there')
  }
  t.equal((await sentTo()).length, LIMITS.rateInvitations.burst)
  const admin = await person('acme')
  const list = await admin.get('/console/tenants/acme/users')
  const lastAt = new Date(clock.nowMs() + names.length * EVERY_MS).toISOString()
  t.match(list.text, /4 invitations are still to be sent: 500 go out an hour/)
  t.match(list.text, `<time datetime="${lastAt}"`)
  t.equal((await post('/tenants/other/users', { ...BOB, invite: true })).status, 201)
  t.same(await sentTo(), ['bob@acme.test'], 'of another tenant at once')

  clock.advance(EVERY_MS)
  t.same(await sentTo(), ['bob@acme.test'])
  const [carol, dan] = [await users.byLogin('acme', 'carol'), await users.byLogin('acme', 'dan')]
  await users.patch('acme', carol?.userId ?? '', { isDisabled: true }, ACTOR)
  await users.remove('acme', dan?.userId ?? '', ACTOR)
  clock.advance(HOUR_MS)
  const [eve] = (await services.mails.deliver(), mails.splice(0))
  t.equal(eve?.to, 'eve@acme.test', 'no dead link to who is disabled or gone')
  t.notMatch((await admin.get('/console/tenants/acme/users')).text, 'still to be sent')
  clock.advance(7 * 24 * HOUR_MS - HOUR_MS)
  const link = new URL(/http\S+/.exec(eve?.text ?? '')?.[0] ?? '')
  const secret = link.searchParams.get('ticket') ?? ''
  t.ok(await services.tickets.look('acme', 'invite', secret), 'seven days from its mail on')
})

t.test('so many invitations wait, and then none is made that has no mail', async (t) => {
  const { clock, person, post, services } = await start(t)
  const { store, users } = services
  const most = LIMITS.rateInvitations.burst + LIMITS.invitationWaitMsMax / EVERY_MS
  const invited = { kind: 'invitations', key: 'acme' }
  const rate = { burst: most, perSecond: 1000 / EVERY_MS }
  await store.change((change) => takeRate(change, { ...invited, rate }, most - 1))
  const ann = { username: 'ann', email: 'ann@acme.test', invite: true }
  t.equal((await post('/tenants/acme/users', ann)).status, 201, 'the last that can wait')
  t.same(await services.accountMail.invitationsAhead('acme'), {
    count: 1,
    lastAt: clock.nowMs() + LIMITS.invitationWaitMsMax,
  })
  const refused = await post('/tenants/acme/users', { ...BOB, invite: true })
  t.match(refused, { status: 429, body: { error: 'rate_limited', retry_after: 8 } })
  t.equal(await users.byLogin('acme', 'bob'), undefined)
  const admin = await person('acme')
  const form = { email: BOB.email, name: 'Bob', username: '', password: '' }
  const page = await admin.post('/console/tenants/acme/users/new', form)
  t.match(page, { status: 429, text: /Too many invitations of this tenant are waiting/ })
  t.equal(await users.byLogin('acme', BOB.email), undefined)
  t.equal((await post('/tenants/acme/users', { ...BOB, password: PASSWORD })).status, 201)
})

t.test('who is removed and made anew is not invited more often for it', async (t) => {
  const { mails, post, services } = await start(t)
  const most = LIMITS.rateInvitationsOfAddress.burst
  const eve = { username: 'eve', email: 'eve@elsewhere.test', invite: true }
  const statuses: number[] = []
  for (let count = 0; count <= most; count++) {
    const { status, body } = await post('/tenants/acme/users', eve)
    statuses.push(status)
    await services.mails.deliver()
    if (status === 201) await services.users.remove('acme', String(body['user_id']), ACTOR)
  }
  t.same(statuses, [201, 201, 201, 429])
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

t.test(
  'of what is changed of very many people some are told later, and the rest is on record',
  async (t) => {
    const { clock, ada, mails, services } = await start(t)
    const { store, accountMail } = services
    const { burst, perSecond } = LIMITS.rateNoticesOfTenant
    const waitingMax = LIMITS.invitationWaitMsMax / EVERY_MS
    const rate = { burst: burst + waitingMax, perSecond }
    const others = (count: number) =>
      Array.from({ length: count }, (_, at) => ({
        ...ada,
        userId: `usr_${at}`,
        email: `${at}@elsewhere.test`,
      }))
    const change = (people: User[]) =>
      store.change(async (change) => {
        for (const before of people) {
          const after = { ...before, email: 'new@acme.test' }
          await accountMail.tellChangedByOther(change, before, after, 'en')
        }
      })
    const sent = async () => {
      await services.mails.deliver()
      return mails.splice(0).map(({ to }) => to)
    }
    await change(others(burst + 2))
    t.equal((await sent()).length, burst)
    clock.advance(EVERY_MS)
    t.same(await sent(), [`${burst}@elsewhere.test`])
    clock.advance(EVERY_MS)
    t.same(await sent(), [`${burst + 1}@elsewhere.test`])
    const notices = { kind: 'notices of tenant', key: 'acme', rate }
    await store.change((change) => takeRate(change, notices, waitingMax - 1))
    const [first, second] = others(burst + 4).slice(-2)
    await change([first!])
    await store.change(async (change) => {
      const after = { ...second!, passwordHash: 'another' }
      await accountMail.tellChangedByOther(change, second!, after, 'en')
      await accountMail.newDevice(change, {
        user: second!,
        ip: '192.0.2.1',
        userAgent: '',
        atMs: clock.nowMs(),
      })
    })
    t.same(await sent(), [second!.email], 'what only they can do themselves is told at once')
    const { items } = await services.auditTrail.list({ limit: 50 })
    const missed = items.filter(({ action }) => action === 'user.not_notified')
    t.same(
      missed.map(({ content }) => content),
      [{ user_id: second!.userId, notice: 'passwordChanged' }],
    )
    clock.advance(LIMITS.invitationWaitMsMax)
    t.same(await sent(), [first!.email])
  },
)
