/** Who is signed in: found by person and address, and ended one by one, by person, or all. */
import t from 'tap'
import { OPERATOR_KEY } from '../../support/api.ts'
import { startConsole } from '../../support/console.ts'
import { ACTOR, movableClock } from '../../support/control-plane.ts'
import { FIREFOX } from '../../support/sign-ins.ts'

const SESSIONS = '/console/tenants/acme/sessions'

async function startSessions(t: Parameters<typeof startConsole>[0]) {
  const clock = movableClock()
  const world = await startConsole(t, { clock })
  const { services, person } = world
  async function user(username: string, tenantId = 'acme') {
    const email = `${username}@acme.test`
    return services.users.create(tenantId, { username, email, name: username, password: '' }, ACTOR)
  }
  async function session(userId: string, sid: string, ip = '192.0.2.1', tenantId = 'acme') {
    clock.advance(1000)
    const issuedAtMs = clock.nowMs()
    const issued = { tenantId, sid, userId, ip, userAgent: FIREFOX, issuedAtMs }
    await services.sessions.record({ ...issued, expiresAtMs: issuedAtMs + 3600_000 })
  }
  const state = async (sid: string) => (await services.sessions.find('acme', sid))?.endReason
  return { ...world, clock, user, session, state, admin: await person('acme') }
}

const linksTo = (text: string) =>
  [...text.matchAll(/sessions\/([^"/]+)\/end[?"]/g)].map(([, sid]) => sid)

void t.test('running sessions are listed by key, and found by person or address', async (t) => {
  const { services, clock, user, session, person } = await startSessions(t)
  const [ada, bob] = [await user('ada'), await user('bob')]
  const eve = await user('eve', 'other')
  await session(ada.userId, 'run-old', '192.0.2.1')
  clock.advance(3600_000)
  const admin = await person('acme')
  t.match((await admin.get(SESSIONS)).text, 'No active sessions')
  await session(ada.userId, 'run-1', '192.0.2.1')
  await session(bob.userId, 'run-2', '2001:db8::7')
  await session(ada.userId, 'run-3', '192.0.2.7')
  await session(bob.userId, 'run-ended', '192.0.2.7')
  await session(eve.userId, 'run-other', '192.0.2.7', 'other')
  await services.revocations.revoke('acme', { sid: 'run-ended' }, ACTOR)

  const first = await admin.get(`${SESSIONS}?limit=2`)
  t.same(
    linksTo(first.text),
    ['run-3', 'run-2'],
    'the newest first; no ended, expired or foreign one',
  )
  const next = /href="([^"]+)" rel="next"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  t.same(linksTo((await admin.get(next)).text), ['run-1'])

  const ofAda = await admin.get(`${SESSIONS}?q=ad`)
  t.same(linksTo(ofAda.text), ['run-3', 'run-1'])
  t.match(ofAda.text, `${ada.userId}/end-sessions`, 'all of one person are a click away')
  t.same(linksTo((await admin.get(`${SESSIONS}?q=192.0.2.7`)).text), ['run-3'])
  t.same(linksTo((await admin.get(`${SESSIONS}?q=2001:db8::7`)).text), ['run-2'])
  const none = await admin.get(`${SESSIONS}?q=${encodeURIComponent('<img src=x>')}`)
  t.match(none.text, 'No matching sessions')
  t.notMatch(none.text, '<img src=x>')

  await session((await user('adam')).userId, 'run-4', '192.0.2.9')
  await session(ada.userId, 'run-5', '192.0.2.9')
  const together = await admin.get(`${SESSIONS}?q=ad`)
  t.same(
    linksTo(together.text),
    ['run-5', 'run-4', 'run-3', 'run-1'],
    'of several people, in order',
  )
  await services.revocations.revoke('acme', { sid: 'run-4' }, ACTOR)
  await services.revocations.revoke('acme', { sid: 'run-5' }, ACTOR)

  const paged = await admin.get(`${SESSIONS}?q=ada&limit=1`)
  t.same(linksTo(paged.text), ['run-3'])
  const more = /href="([^"]+)" rel="next"/.exec(paged.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  t.same(linksTo((await admin.get(more)).text), ['run-1'], 'what was looked for goes along')
})

void t.test('one session is ended, and the others of the person go on', async (t) => {
  const { admin, user, session, state } = await startSessions(t)
  const ada = await user('ada')
  await session(ada.userId, 'run-1')
  await session(ada.userId, 'run-2')
  const asked = await admin.get(`${SESSIONS}/run-1/end`)
  t.match(asked.text, /End this session of ada\?.*Firefox, Linux from 192\.0\.2\.1/s)
  t.equal(await state('run-1'), null, 'asking changes nothing')
  const done = await admin.post(`${SESSIONS}/run-1/end`, { from: 'sessions' })
  t.match(done, { status: 303, location: /^\/console\/tenants\/acme\/sessions\?done=/ })
  t.match((await admin.get(done.location)).text, /Session ended\..*No gateway is connected/s)
  t.equal(await state('run-1'), 'revoked')
  t.equal(await state('run-2'), null)
  const again = await admin.post(`${SESSIONS}/run-1/end`)
  t.match((await admin.get(again.location)).text, 'This session has already ended.')
  t.equal((await admin.get(`${SESSIONS}/run-1/end`)).status, 303)
  const back = await admin.post(`${SESSIONS}/run-2/end`, { from: 'user' })
  t.match(back.location, `/console/tenants/acme/users/${ada.userId}?done=`)
})

void t.test('a session of another tenant is none', async (t) => {
  const { admin, services, user, session } = await startSessions(t)
  const eve = await user('eve', 'other')
  await session(eve.userId, 'run-other', '192.0.2.1', 'other')
  t.equal((await admin.get(`${SESSIONS}/run-other/end`)).status, 404)
  t.equal((await admin.post(`${SESSIONS}/run-other/end`)).status, 404)
  t.equal((await services.sessions.find('other', 'run-other'))?.endedAt, null)
})

void t.test(
  'all of a person, and all there are, end after a page that says how many',
  async (t) => {
    const { admin, services, user, session, state } = await startSessions(t)
    const [ada, bob] = [await user('ada'), await user('bob')]
    for (const sid of ['a1', 'a2']) await session(ada.userId, sid)
    for (const sid of ['b1', 'b2', 'b3']) await session(bob.userId, sid)
    const ofAda = `/console/tenants/acme/users/${ada.userId}/end-sessions`
    t.match((await admin.get(ofAda)).text, /End all sessions of ada\?.*2 active sessions end/s)
    const done = await admin.post(ofAda)
    t.match((await admin.get(done.location)).text, '2 sessions ended.')
    t.equal(await state('a1'), 'revoked')
    t.equal(await state('b1'), null)
    t.match(
      (await admin.get(`${SESSIONS}/end-all`)).text,
      /End all sessions of .*3 active sessions end/s,
    )
    const all = await admin.post(`${SESSIONS}/end-all`)
    t.match((await admin.get(all.location)).text, '3 sessions ended.')
    t.equal(await state('b3'), 'revoked')
    const { items } = await services.auditTrail.list({ limit: 1 }, { tenantId: 'acme' })
    t.match(items, [{ action: 'sessions.revoked', actor: /^console:/, content: { all: true } }])
  },
)

void t.test('the API finds the same sessions', async (t) => {
  const { app, user, session } = await startSessions(t)
  const ada = await user('ada')
  await session(ada.userId, 'run-1', '192.0.2.7')
  await session((await user('bob')).userId, 'run-2', '192.0.2.8')
  const ask = async (query: string) => {
    const url = `/api/v1/operator/tenants/acme/${query}`
    const headers = { authorization: `Bearer ${OPERATOR_KEY}` }
    const answer = await app.request(url, { headers }, { address: '127.0.0.1' })
    const { items } = (await answer.json()) as { items?: Record<string, unknown>[] }
    return { status: answer.status, ids: items?.map((one) => one['sid'] ?? one['username']) }
  }
  t.same((await ask('sessions?state=active')).ids, ['run-2', 'run-1'])
  t.same((await ask(`sessions?user_id=${ada.userId}`)).ids, ['run-1'])
  t.same((await ask('sessions?ip=192.0.2.8')).ids, ['run-2'])
  t.equal((await ask(`sessions?ip=192.0.2.8&user_id=${ada.userId}`)).status, 400)
  t.equal((await ask('sessions?state=dead')).status, 400)
  t.same((await ask('users?q=AD')).ids, ['ada'])
  t.same((await ask(`users?q=${ada.userId.slice(8, 20)}`)).ids, ['ada'], 'a part of an ID')
})
