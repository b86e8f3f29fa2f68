/** What a tenant's people may be too many for: the last that fits, and the first that does not. */
import t from 'tap'
import { HOUR_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { upsertSession } from '../../../control-plane/store/queries/sessions.ts'
import { startPeople } from '../../support/console-people.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { FIREFOX, failSignIns } from '../../support/sign-ins.ts'

const USERS = '/console/tenants/acme/users'
const SESSIONS = '/console/tenants/acme/sessions'

type World = Awaited<ReturnType<typeof startPeople>>

/** One after the other, the first of them lasting longest. */
async function fillSessions({ services, clock }: World, ips: readonly string[], userId = 'bob') {
  const nowMs = clock.nowMs()
  await services.store.change(async ({ queries }) => {
    for (const [at, ip] of ips.entries())
      await upsertSession(queries, {
        ...{ tenantId: 'acme', sid: `busy-${at}`, userId, ip, userAgent: FIREFOX },
        ...{ createdAt: nowMs, issuedAt: nowMs, lastSeenAt: nowMs },
        ...{ expiresAt: nowMs + HOUR_MS - at, endedAt: null, endReason: null, deviceId: null },
      })
  })
}

void t.test('a network is looked for in so many sessions, and then on the next page', async (t) => {
  const most = LIMITS.sessionsLookedThroughMax
  const path = `${SESSIONS}?q=192.0.2.0/25`
  const others = (count: number) => Array.from({ length: count }, () => '192.0.2.200')
  const fits = await startPeople(t)
  await fillSessions(fits, [...others(most - 1), '192.0.2.7'])
  const all = await fits.admin.get(path)
  t.match(all.text, '>192.0.2.7<')
  t.notMatch(all.text, /searched so far|rel="next"/)

  const cut = await startPeople(t)
  await fillSessions(cut, [...others(most), '192.0.2.7'])
  const first = await cut.admin.get(path)
  t.match(first.text, 'No matches in the 5,000 sessions searched so far. The next page')
  t.notMatch(first.text, /No matching sessions|>192\.0\.2\.7</)
  const next = /href="([^"]+)" rel="next"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const second = await cut.admin.get(next)
  t.match(second.text, '>192.0.2.7<', 'nobody is out of reach')
  t.notMatch(second.text, /searched so far|rel="next"/)
  t.match((await cut.admin.get(`${path}&limit=1`)).text, 'No matches in the 5,000')

  const some = await startPeople(t)
  await fillSessions(some, ['192.0.2.7', '192.0.2.8', ...others(most - 1)])
  t.match((await some.admin.get(path)).text, '2 found in the 5,000 sessions searched so far')
  const one = await some.admin.get(`${path}&limit=1`)
  t.notMatch(one.text, 'searched so far', 'the page is full before')
  t.match(one.text, 'rel="next"')
})

void t.test('ending sessions says how many, up to so many', async (t) => {
  const most = LIMITS.sessionsCountedMax
  for (const [count, said] of [
    [most - 1, '999 active sessions end'],
    [most, 'More than 999 active sessions end'],
  ] as const) {
    const world = await startPeople(t)
    await fillSessions(
      world,
      Array.from({ length: count }, () => '192.0.2.1'),
    )
    t.match((await world.admin.get(`${SESSIONS}/end-all`)).text, `<li>${said} immediately`)
  }
})

void t.test('a search for sessions stands for so many people', async (t) => {
  const { create, session, admin } = await startPeople(t)
  const most = LIMITS.peopleMatchedMax
  for (let at = 0; at < most; at++) {
    const { userId } = await create(`ada-${String(at).padStart(2, '0')}`)
    await session(userId, `sid-${at}`)
  }
  t.match((await admin.get(`${SESSIONS}?q=ada`)).text, `Of ${most} people who match.`)
  const last = await create('ada-zz')
  await session(last.userId, 'sid-last')
  const more = await admin.get(`${SESSIONS}?q=ada&limit=50`)
  t.match(more.text, `Of the first ${most} people who match. Type more`)
  t.notMatch(more.text, 'sid-last')
})

void t.test('so many locked accounts are listed', async (t) => {
  const { services, create, clock } = await startPeople(t)
  const most = LIMITS.lockedUsersListedMax
  const lockout = { ...(await services.policies.of('acme')).lockout, user_failures: 1 }
  await services.policies.put('acme', 'lockout', lockout, ACTOR)
  const locked = async () =>
    (await services.attempts.pausesOf('acme', await services.policies.of('acme'))).size
  for (let at = 0; at <= most; at++) {
    const user = await create(`user-${at}`)
    await failSignIns(services, user, 1, { ip: `192.0.${at}.1` })
    clock.advance(1)
    if (at >= most - 1) t.equal(await locked(), most, `${at + 1} are locked`)
  }
})

void t.test('locked accounts are found among so many failures', async (t) => {
  const { services, create, clock } = await startPeople(t)
  const { store } = services
  const ada = await create('ada')
  const { user_failures: failures } = (await services.policies.of('acme')).lockout
  await failSignIns(services, ada, failures)
  clock.advance(1)
  const [row] = await store.read.select().from(schema.signIns)
  const fail = (from: number, to: number) =>
    store.change(async ({ queries }) => {
      const at = clock.nowMs()
      for (let count = from; count < to; count++)
        await queries
          .insert(schema.signIns)
          .values({ ...row!, signInId: `other-${count}`, userId: 'usr_other', at })
    })
  const found = async () =>
    (await services.attempts.pausesOf('acme', await services.policies.of('acme'))).size
  const most = LIMITS.failuresReadMax
  await fail(0, most - 1)
  t.equal(await found(), 1)
  await fail(most - 1, most)
  t.equal(await found(), 0, 'the list of users still says so beside each name')
  t.match(
    (await services.attempts.pausesOf('acme', await services.policies.of('acme'), [ada.userId]))
      .size,
    1,
  )
})

void t.test('one form changes so many users', async (t) => {
  const { create, admin } = await startPeople(t)
  const most = LIMITS.usersChangedAtOnceMax
  const { userId } = await create('ada')
  const chosen = (count: number) => [
    userId,
    ...Array.from({ length: count - 1 }, (_, at) => `usr_${at}`),
  ]
  for (const [count, status] of [
    [most, 200],
    [most + 1, 400],
  ] as const) {
    const form = { user_id: chosen(count), change: 'disable' }
    t.equal(
      (await admin.post(`${USERS}/selected`, form)).status,
      status,
      `${count} are asked about`,
    )
  }
  const sent = (count: number) =>
    admin.post(`${USERS}/selected/confirm`, {
      user_ids: chosen(count).join('\n'),
      change: 'disable',
    })
  t.match(await sent(most + 1), { status: 400, text: /Select 1 to 100 users/ })
  t.match(await sent(most), { status: 303 })
})

void t.test('a file of users has so many bytes', async (t) => {
  const { admin } = await startPeople(t)
  const most = LIMITS.userImportBytesMax
  const head = 'email,name\nada@acme.test,'
  const file = (bytes: number) => head + 'x'.repeat(bytes - head.length)
  const fits = await admin.post(`${USERS}/import`, { csv: file(most) })
  t.match(fits, { status: 200, text: /1 line has a problem/ }, 'it is read')
  const large = await admin.post(`${USERS}/import`, { csv: file(most + 1) })
  t.match(large, { status: 422, text: /a file of at most 128 KB/ })
})

void t.test('an export goes on behind what is read in one turn', async (t) => {
  const { services, admin } = await startPeople(t)
  const most = LIMITS.usersExportedAtOnceMax
  const add = async (from: number, to: number) => {
    const people = Array.from({ length: to - from }, (_, at) => {
      const email = `user-${from + at}@acme.test`
      return { username: email, email, name: 'x', password: '' }
    })
    for (const one of people) await services.users.create('acme', one, ACTOR)
  }
  const lines = async () => (await admin.get(`${USERS}/export`)).text.trim().split('\r\n')
  await add(0, most)
  t.equal((await lines()).length, most + 1, 'and the header')
  await add(most, most + 1)
  const all = await lines()
  t.equal(new Set(all).size, most + 2)
})
