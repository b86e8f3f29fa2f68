/** Who can open a path, who could then, and what other rules would have meant. */
import t, { type Test } from 'tap'
import { DAY_MS, HOUR_MS } from '../../../shared/clock.ts'
import type { AccessRule } from '../../../shared/fleet/access-rules.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { createAccessReplay } from '../../../control-plane/tenants/access-replay.ts'
import { ACTOR, movableClock, startServices, tenantNamed } from '../../support/control-plane.ts'

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const REPORTS: AccessRule = { path: '/reports', allow: [{ group: 'finance' }] }

async function startReview(t: Test) {
  const clock = movableClock()
  const services = await startServices(t, { clock })
  const { tenants, users, groups, accessRules, accessReview, sessions } = services
  const wish = { ...tenantNamed('acme'), sealed: ['/sealed'], excluded: ['/public'] }
  await tenants.create(wish, ACTOR)
  for (const name of ['finance', 'admins']) await groups.create('acme', { name }, ACTOR)
  const person = async (name: string) => {
    const account = { username: name, email: `${name}@example.test`, name, password: '' }
    return (await users.create('acme', account, ACTOR)).userId
  }
  const member = (userId: string, group = 'finance') =>
    ({ tenantId: 'acme', group, userId, source: 'local' }) as const
  const ask = (userId: string, path: string, more: object = {}) =>
    accessReview.ask('acme', {
      ...{ userId, path, method: 'GET', address: '', isStrong: false, signedInSecondsAgo: 300 },
      ...more,
    })
  const visit = (userId: string, ip: string) => {
    const sid = `sid-${userId}-${ip}`
    const issuedAtMs = clock.nowMs()
    const one = { tenantId: 'acme', sid, userId, ip, userAgent: 'test' }
    return sessions.record({ ...one, issuedAtMs, expiresAtMs: issuedAtMs + 8 * HOUR_MS })
  }
  const put = (...rules: AccessRule[]) => accessRules.put('acme', { rules }, ACTOR)
  return { ...services, clock, person, member, ask, visit, put }
}

t.test('the answer is what a gateway would decide, with the rule that decides', async (t) => {
  const { person, member, ask, put, groups } = await startReview(t)
  const [ada, bob] = [await person('ada'), await person('bob')]
  await groups.add(member(ada), ACTOR)
  await put({ path: '/x', allow: [{ signed_in: true }] }, REPORTS, {
    path: '/vault',
    allow: [{ strength: 'mfa' }],
    deny: [{ group: 'finance' }],
  })
  const answered = async (...asked: Parameters<typeof ask>) => {
    const { outcome, explanation } = await ask(...asked)
    const reason = outcome.kind === 'service' ? '' : outcome.reason
    return [outcome.kind, reason, explanation?.kind, explanation?.rules]
  }
  t.same(await answered(ada, '/reports/1'), ['forward', 'session', 'opened', [1]])
  t.same(await answered(bob, '/reports/1'), ['refuse', 'rule_denied', 'closed', [1]])
  t.same(await answered(bob, '/%72eports'), ['refuse', 'rule_denied', 'closed', [1]])
  t.same(await answered(ada, '/vault'), ['refuse', 'rule_denied', 'denied', [2]])
  t.same(await answered(bob, '/vault'), ['sign_in', 'strength_missing', 'closed', [2]])
  t.same(await answered(bob, '/vault', { isStrong: true }), ['forward', 'session', 'opened', [2]])
  t.same(await answered(bob, '/other'), ['forward', 'session', 'unruled', []])
  t.same(await answered(bob, '/sealed/1'), ['refuse', 'sealed', undefined, undefined])
  t.same(await answered(bob, '/public/1'), ['forward', 'excluded', undefined, undefined])
  t.same(await answered(bob, '/service/login'), ['service', '', undefined, undefined])
  t.same(await answered(bob, '/a%00'), ['refuse', 'path_unreadable', undefined, undefined])
  await t.rejects(ask('usr_nobody', '/x'), { code: 'user_not_found' })
})

t.test('whose groups are many to read lets others have their turn', async (t) => {
  const { person, member, groups, visit, put, accessReview } = await startReview(t)
  const ada = await person('ada')
  for (const group of ['finance', 'admins']) await groups.add(member(ada, group), ACTOR)
  await put(REPORTS)
  const many = Array.from({ length: 80 }, (_, at) => `usr_${at}`)
  for (const userId of [ada, ...many]) await visit(userId, '192.0.2.1')
  let [turns, isOver] = [0, false]
  const next = () => {
    turns++
    if (!isOver) setImmediate(next)
  }
  setImmediate(next)
  const proposed = { rules: [{ path: '/reports', allow: [{ group: 'admins', max_age: 60 }] }] }
  const { people, isCut, changes } = await accessReview.replay('acme', proposed)
  isOver = true
  t.ok(turns >= 8, `${turns} turns while 81 people were looked up`)
  t.same([people, isCut], [81, false])
  t.same(
    changes.map(({ path, change, ids }) => [path, change, ids]),
    [['/reports', 'asked', [ada]]],
  )
})

t.test('a machine opens what names it', async (t) => {
  const { ask, put, machines } = await startReview(t)
  const { serviceId } = await machines.create('acme', 'CI', ACTOR)
  await put({ path: '/hooks', allow: [{ service: serviceId }] })
  const as = { userId: undefined, serviceId }
  t.match(await ask('', '/hooks/1', as), { outcome: { kind: 'forward', reason: 'machine' } })
  t.match(await ask('', '/other', as), {
    outcome: { reason: 'machine_not_allowed' },
    explanation: { kind: 'closed' },
  })
  const nobody = { userId: undefined, serviceId: 'svc_0000000000000000' }
  await t.rejects(ask('', '/x', nobody), { code: 'service_not_found' })
})

t.test('who could then is told by the rules and the groups of then', async (t) => {
  const { clock, person, member, ask, put, groups } = await startReview(t)
  const ada = await person('ada')
  const can = async (atMs?: number) => (await ask(ada, '/reports', { atMs })).outcome.kind
  const start = clock.nowMs()
  clock.advance(HOUR_MS)
  await put(REPORTS)
  clock.advance(HOUR_MS)
  await groups.add(member(ada), ACTOR)
  clock.advance(HOUR_MS)
  await groups.take(member(ada), ACTOR)
  clock.advance(HOUR_MS)
  await put({ path: '/reports', allow: [{ group: 'admins' }] })
  await groups.add(member(ada, 'admins'), ACTOR)
  const at = (hours: number) => start + hours * HOUR_MS + 1
  t.equal(await can(at(0)), 'forward', 'before there was a rule')
  t.equal(await can(at(1)), 'refuse', 'a rule, and in no group')
  t.equal(await can(at(2)), 'forward', 'in the group')
  t.equal(await can(at(3)), 'refuse', 'out of it again')
  t.equal(await can(), 'forward', 'by the rules of now')
  t.same((await ask(ada, '/reports', { atMs: at(2) })).groups, ['finance'])
  await groups.take(member(ada, 'admins'), ACTOR)
  await put()
  await groups.remove('acme', 'admins', ACTOR)
  clock.advance(HOUR_MS)
  t.same((await ask(ada, '/reports', { atMs: at(4) })).groups, [])
})

t.test('what is not kept any more is not known', async (t) => {
  const { clock, person, ask, put, accessReview, users, member, groups } = await startReview(t)
  const ada = await person('ada')
  const start = clock.nowMs()
  for (let at = 0; at <= LIMITS.ruleVersionsKeptMax; at++) {
    clock.advance(1000)
    await put({ ...REPORTS, path: `/reports${at}` })
  }
  const saved = await accessReview.saved('acme', 1000)
  t.equal(saved.length, LIMITS.ruleVersionsKeptMax)
  t.equal((await ask(ada, '/reports1', { atMs: start + 1 })).rules, undefined)
  t.equal((await ask(ada, '/reports1', { atMs: start + 2500 })).rules?.rules[0]?.path, '/reports1')
  await groups.add(member(ada), ACTOR)
  clock.advance(1000)
  await groups.take(member(ada), ACTOR)
  clock.advance(LIMITS.auditKeptMs - DAY_MS)
  t.equal(await accessReview.prune(10), 0)
  clock.advance(2 * DAY_MS)
  t.equal(await accessReview.prune(10), 1)
  await groups.add(member(ada), ACTOR)
  clock.advance(1000)
  await groups.take(member(ada), ACTOR)
  await users.remove('acme', ada, ACTOR)
  clock.advance(LIMITS.auditKeptMs + DAY_MS)
  t.equal(await accessReview.prune(10), 0, 'of an account that is gone nothing is kept')
})

t.test('other rules are held against who was here, from where they came', async (t) => {
  const { clock, person, member, visit, put, groups, accessReview, accessRules } =
    await startReview(t)
  const [ada, bob, cy] = [await person('ada'), await person('bob'), await person('cy')]
  await visit(cy, '192.0.2.7')
  clock.advance(8 * DAY_MS) // so long ago that it does not count
  await groups.add(member(ada), ACTOR)
  await visit(ada, '192.0.2.7')
  await visit(bob, '198.51.100.7')
  await visit(bob, '192.0.2.8')
  const replay = (...rules: AccessRule[]) =>
    accessReview.replay('acme', { networks: { office: ['192.0.2.0/24'] }, rules })
  const plain = { host: undefined, path: '/reports', methods: ['GET', 'POST'] }
  t.same(await replay(REPORTS), {
    people: 2,
    machines: 0,
    changes: [{ ...plain, change: 'refused', count: 1, ids: [bob] }],
    refused: [],
    isCut: false,
  })
  const strong = await replay({ path: '/reports', allow: [{ strength: 'mfa' }] })
  t.same(strong.changes, [{ ...plain, change: 'asked', count: 2, ids: [ada, bob].sort() }])
  const office = await replay({ path: '/reports', allow: [{ network: 'office' }] })
  t.same(office.changes, [{ ...plain, change: 'refused', count: 1, ids: [bob] }], 'from one place')
  const posted = await replay({ ...REPORTS, methods: ['PUT'] })
  t.same(
    posted.changes.map(({ methods, count, ids }) => [methods, count, ids]),
    [
      [['GET', 'POST'], 2, [ada, bob].sort()],
      [['PUT'], 1, [bob]],
    ],
  )
  await put(REPORTS)
  const opened = await replay()
  t.same(opened.changes, [{ ...plain, change: 'opened', count: 1, ids: [bob] }])
  t.same((await replay(REPORTS)).changes, [], 'the same rules')
  t.same((await accessRules.of('acme')).rules, [REPORTS], 'nothing was saved')
  await t.rejects(replay({ path: '/a%2f', allow: [{ signed_in: true }] }), {
    code: 'field_invalid',
  })
})

t.test('very many people are not all looked at, and that is said', async (t) => {
  const { store, clock, accessReview } = await startReview(t)
  const most = LIMITS.replayedVisitorsMax
  const { schema } = await import('../../../control-plane/store/schema.ts')
  const { insertRows } = await import('../../../control-plane/store/statements.ts')
  const at = clock.nowMs()
  const row = { tenantId: 'acme', ip: '192.0.2.1', userAgent: '', createdAt: at, issuedAt: at }
  const times = { expiresAt: at + HOUR_MS, lastSeenAt: at }
  const rows = Array.from({ length: most + 1 }, (_, index) => {
    const userId = `usr_${String(index).padStart(6, '0')}`
    return { ...row, ...times, sid: userId, userId, endedAt: null, endReason: null, deviceId: null }
  })
  await store.change(({ queries }) => insertRows(queries, schema.sessions, rows))
  const { people, isCut, changes } = await accessReview.replay('acme', { rules: [REPORTS] })
  t.equal(people, most)
  t.ok(isCut)
  t.ok(changes[0]!.count > LIMITS.replayedPeopleListedMax)
  t.equal(changes[0]!.ids.length, LIMITS.replayedPeopleListedMax)
})

t.test(
  'rules with a great many methods are held against a few of them, and that is said',
  async (t) => {
    const { accessReview, person, visit } = await startReview(t)
    const ada = await person('ada')
    await visit(ada, '192.0.2.7')
    const letters = (number: number) =>
      number.toString(26).replaceAll(/./g, (digit) => LETTERS[parseInt(digit, 26)]!)
    const rules = Array.from({ length: 150 }, (_, rule): AccessRule => {
      const methods = Array.from({ length: 20 }, (_, at) => `X${letters(rule * 20 + at)}`)
      const path = `/p${rule}`
      return {
        path,
        methods: rule === 0 ? ['GET', ...methods.slice(1)] : methods,
        allow: [{ signed_in: true }],
      }
    })
    const { changes, isCut } = await accessReview.replay('acme', { rules })
    t.ok(isCut)
    const first = changes.filter(({ path }) => path === '/p0').flatMap(({ methods }) => methods)
    t.notOk(first.includes('GET'), 'open as before')
    t.ok(first.includes('POST'), 'closed by the rule')
    const probes = changes.reduce((sum, { methods }) => sum + methods.length, 0)
    t.ok(probes <= LIMITS.replayedProbesMax, `${probes}`)
  },
)

t.test('who looks at one visitor can stop between any two paths', (t) => {
  const rules = Array.from({ length: 20 }, (_, at): AccessRule => ({ ...REPORTS, path: `/p${at}` }))
  const replay = createAccessReplay({ rules: [] }, { rules }, { sealed: [], excluded: [] })
  const visitor = { id: 'usr_1', held: new Set<string>(), address: '192.0.2.1' }
  t.equal([...replay.add(visitor)].length, 40, 'two methods of each')
  t.equal(replay.result().length, 20)
  const [again] = [...replay.add({ ...visitor, id: 'usr_2' })]
  t.equal(again, undefined)
  t.same(
    replay.result().map(({ count }) => count),
    rules.map(() => 2),
    'alike to the first',
  )
  t.end()
})

t.test('what somebody else has saved meanwhile is not written over', async (t) => {
  const { accessRules, put } = await startReview(t)
  const before = await accessRules.of('acme')
  await put(REPORTS)
  const mine = { rules: [{ path: '/mine', allow: [{ signed_in: true as const }] }] }
  await t.rejects(accessRules.put('acme', mine, ACTOR, before), { code: 'access_rules_changed' })
  t.same((await accessRules.of('acme')).rules, [REPORTS])
  await accessRules.put('acme', mine, ACTOR, await accessRules.of('acme'))
  t.same((await accessRules.of('acme')).rules, mine.rules)
})
