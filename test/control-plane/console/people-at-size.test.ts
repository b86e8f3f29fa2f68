/** Many users of one tenant: found by any part, filtered, sorted, and changed several at a time. */
import t from 'tap'
import { MINUTE_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { DEFAULT_POLICIES } from '../../../control-plane/policy/policies.ts'
import { judge } from '../../../control-plane/policy/sign-in.ts'
import { startPeople } from '../../support/console-people.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { failSignIns, signIns } from '../../support/sign-ins.ts'
import { facts as factsOf } from '../policy/facts.ts'

const USERS = '/console/tenants/acme/users'
const SESSIONS = '/console/tenants/acme/sessions'

void t.test('a person is found by any part of name, address, username and id', async (t) => {
  const { create, names } = await startPeople(t)
  const ada = await create('ada', 'Augusta Ada King')
  await create('jo', 'Jörg Özil')
  await create('bob')
  for (const part of ['AUGUSTA', 'ada k', 'da@acme', ada.userId.slice(6, 20)])
    t.same(await names(`q=${encodeURIComponent(part)}`), ['ada'], part)
  for (const part of ['örg', 'özil', 'ÖZIL'])
    t.same(await names(`q=${encodeURIComponent(part)}`), ['jo'], part)
  t.same(await names('q=%25'), [], 'a wildcard is none')
  t.same(await names('q=test&limit=2'), ['ada', 'bob'])
})

void t.test('operators find people of all tenants, others those of their own', async (t) => {
  const { create, person, admin } = await startPeople(t)
  await create('ada', 'Ada Lovelace')
  const other = await create('adam', 'Adam Lovelace', { tenantId: 'other' })
  const grace = await person('operator')
  const all = await grace.get('/console/search?q=lovelace')
  t.match(all.text, /Ada Lovelace.*Adam Lovelace/s)
  t.match(all.text, `/console/tenants/other/users/${other.userId}`)
  const own = (await admin.get('/console/search?q=lovelace')).text
  t.match(own, 'Ada Lovelace')
  t.notMatch(own, 'Adam Lovelace')
  t.notMatch(all.text, 'These are the first')
  for (let number = 0; number < LIMITS.consoleSearchResultsMax; number++)
    await create(`mary-${number}`)
  t.match(
    (await grace.get('/console/search?q=mary')).text,
    /These are the first \d+ people\. Type more/,
  )
  t.match(
    (await grace.get('/console/search?q=mary&in=acme')).text,
    /href="\/console\/tenants\/acme\/users\?q=mary">Show all matching users/,
  )
  t.notMatch((await grace.get('/console/search?q=person')).text, '· console', 'no operators')
})

void t.test('the list says who is locked, has a second factor, and signed in when', async (t) => {
  const { services, create, admin, names, clock } = await startPeople(t)
  const [ada, bob] = [await create('ada'), await create('bob')]
  await create('carol')
  await signIns(services, ada, 1, { ip: '192.0.2.7' })
  clock.advance(MINUTE_MS)
  await failSignIns(services, bob, DEFAULT_POLICIES.lockout.user_failures)
  const { text } = await admin.get(USERS)
  t.match(text, /bob@acme\.test.*Locked<\/span> until .*2026/s)
  t.match(text, /ada@acme\.test.*datetime="2026[^>]*>.*bob@acme\.test.*Never/s)
  t.same(await names('locked=yes'), ['bob'])
  t.same(await names('status=invited'), ['ada', 'bob', 'carol'])
  t.same(await names('status=disabled'), [])
  t.same(await names('source=directory'), [])
  t.same(await names('second_factor=set_up'), [])
  t.same(await names('second_factor=none&source=own'), ['ada', 'bob', 'carol'])
  t.same((await names('sort=last_sign_in'))[0], 'ada')
  t.same((await names('sort=inactive')).at(-1), 'ada')
  t.match(await admin.get(`${USERS}?status=else`), { status: 400 })
  await services.users.unlock('acme', bob.userId, ACTOR)
  t.same(await names('locked=yes'), [])
})

void t.test('every order goes on where the page before ended', async (t) => {
  const { create, names, admin, clock } = await startPeople(t)
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    await create(name)
    clock.advance(MINUTE_MS)
  }
  for (const sort of ['', 'created', 'last_sign_in', 'inactive']) {
    const seen: (string | undefined)[] = []
    let next = `sort=${sort}&limit=2`
    for (let page = 0; page < 3; page++) {
      seen.push(...(await names(next)))
      const { text } = await admin.get(`${USERS}?${next}`)
      next = /href="[^"?]*\?([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? ''
    }
    t.same([...seen].sort(), ['a', 'b', 'c', 'd', 'e'], sort)
    if (sort === 'created') t.same(seen, ['e', 'd', 'c', 'b', 'a'])
  }
})

void t.test(
  'several are disabled at once, asked first, each with its own audit entry',
  async (t) => {
    const { services, create, session, admin } = await startPeople(t)
    const [ada, bob, carol] = [await create('ada'), await create('bob'), await create('carol')]
    const other = await create('eve', 'Mallory', { tenantId: 'other' })
    await session(ada.userId, 'sid-ada')
    await services.users.patch('acme', bob.userId, { isDisabled: true }, ACTOR)
    const user_id = [ada.userId, bob.userId, other.userId]
    const asked = await admin.post(`${USERS}/selected`, { user_id, change: 'disable' })
    t.match(asked, { status: 200, text: /Disable 2 users\?.*ada, bob/s })
    t.notMatch(asked.text, 'Mallory', 'nobody of another tenant')
    t.match(await services.users.get('acme', ada.userId), { isDisabled: false }, 'not yet')
    const form = { user_ids: user_id.join('\n'), change: 'disable' }
    const done = await admin.post(`${USERS}/selected/confirm`, form)
    t.match((await admin.get(done.location)).text, /1 user disabled\. 2 users skipped/)
    t.match(await services.users.get('acme', ada.userId), { isDisabled: true })
    t.match(await services.users.get('acme', carol.userId), { isDisabled: false })
    t.match(await services.users.get('other', other.userId), { isDisabled: false })
    t.equal((await services.sessions.find('acme', 'sid-ada'))?.endReason, 'user_disabled')
    const trail = (await services.auditTrail.list({ limit: 20 }, { tenantId: 'acme' })).items
    t.match(trail[0], { action: 'user.changed', content: { user_id: ada.userId } })

    const none = await admin.post(`${USERS}/selected`, { user_id: [], change: 'disable' })
    t.match(none, { status: 400, text: /Select 1 to 100 users/ })
    const nothing = await admin.post(`${USERS}/selected`, { user_id: [carol.userId], change: '' })
    t.match(nothing, { status: 400, text: /Choose an action, then try again\./ })
    const many = Array.from({ length: LIMITS.usersChangedAtOnceMax + 1 }, (_, at) => `usr_${at}`)
    const tooMany = await admin.post(`${USERS}/selected/confirm`, {
      user_ids: many.join('\n'),
      change: 'disable',
    })
    t.match(tooMany, { status: 400, text: /Select 1 to 100 users/ })
  },
)

void t.test(
  'several are signed out, or need a second factor from their next sign-in on',
  async (t) => {
    const { services, create, session, admin, names } = await startPeople(t)
    const [ada, bob] = [await create('ada'), await create('bob')]
    await session(ada.userId, 'sid-ada')
    await session(bob.userId, 'sid-bob')
    const user_ids = [ada.userId, bob.userId].join('\n')
    const out = await admin.post(`${USERS}/selected/confirm`, { user_ids, change: 'sign_out' })
    t.match((await admin.get(out.location)).text, '2 users signed out.')
    t.equal(await services.sessions.countAlive('acme'), 0)
    const change = 'require_second_factor'
    const asked = await admin.post(`${USERS}/selected`, { user_id: [ada.userId], change })
    t.match(asked.text, /Require a second factor for 1 user\?/)
    await admin.post(`${USERS}/selected/confirm`, { user_ids: ada.userId, change })
    t.same(await names('second_factor=required'), ['ada'])
  },
)

void t.test('who needs a second factor is asked for one, whatever the policy says', (t) => {
  const policies = { ...DEFAULT_POLICIES, mfa: { ...DEFAULT_POLICIES.mfa, mode: 'off' as const } }
  const facts = factsOf({ proof: 'none', factors: [] })
  t.match(judge(facts, policies), { kind: 'signed_in' })
  t.match(judge({ ...facts, isFactorRequired: true }, policies), {
    kind: 'asking',
    reason: 'enrolment_needed',
  })
  t.end()
})

void t.test('a session past its idle time or its maximum is not shown as active', async (t) => {
  const { services, create, session, admin, clock } = await startPeople(t)
  const ada = await create('ada')
  await session(ada.userId, 'sid-ada')
  const { idle_seconds: idle, max_session_seconds: most } = (await services.policies.of('acme'))
    .session
  const path = `${USERS}/${ada.userId}`
  clock.advance(idle * 1000)
  for (const page of [SESSIONS, path]) t.match((await admin.get(page)).text, '>Active</span>')
  clock.advance(1)
  for (const page of [SESSIONS, path]) {
    const { text } = await admin.get(page)
    t.match(text, 'Idle: timed out')
  }
  await services.policies.put(
    'acme',
    'session',
    { ...DEFAULT_POLICIES.session, max_session_seconds: Math.min(most, 1200), idle_seconds: 1200 },
    ACTOR,
  )
  clock.advance(1200_000)
  t.match((await admin.get(SESSIONS)).text, '>Expired</span>')
})

void t.test(
  'who is signed in from an address or a network is one search, or one click',
  async (t) => {
    const { create, session, admin } = await startPeople(t)
    const ada = await create('ada')
    const ips = [
      '192.0.2.7',
      '192.0.2.200',
      '192.0.20.1',
      '2001:db8::1',
      '2001:db8:1::1',
      '2001:db9::1',
    ]
    for (const ip of ips) await session(ada.userId, `sid-${ip}`, ip)
    const found = async (q: string) => {
      const { text } = await admin.get(`${SESSIONS}?q=${encodeURIComponent(q)}`)
      return [...text.matchAll(/data-label="IP address" ><a href="[^"]*">([^<]*)</g)]
        .map(([, ip]) => ip)
        .sort()
    }
    t.same(await found('192.0.2.7'), ['192.0.2.7'])
    t.same(await found('192.0.2.'), ['192.0.2.200', '192.0.2.7'])
    t.same(await found('192.0.2.0/24'), ['192.0.2.200', '192.0.2.7'])
    t.same(await found('192.0.2.0/25'), ['192.0.2.7'])
    t.same(await found('192.0.0.0/19'), ['192.0.2.200', '192.0.2.7', '192.0.20.1'])
    t.same(await found('192.0.2.7/32'), ['192.0.2.7'])
    t.same(await found('2001:db8::/32'), ['2001:db8:1::1', '2001:db8::1'])
    t.same(await found('2001:0DB8:0:0::1'), ['2001:db8::1'], 'in any spelling')
    t.same(await found('2001:db8::/33'), ['2001:db8:1::1', '2001:db8::1'])
    t.same((await found('::/0')).length, 3)
    t.same(await found('192.0.2.0/33'), [])
    const { text } = await admin.get(`${USERS}/${ada.userId}`)
    t.match(text, 'href="/console/tenants/acme/sessions?q=192.0.2.7"')
  },
)
