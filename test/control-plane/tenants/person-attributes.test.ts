/** What people are: by which source, what tokens say of it, and what it was. */
import t from 'tap'
import { groupClaimsOf } from '../../../control-plane/tenants/access-rules.ts'
import { alterAttributesIn } from '../../../control-plane/tenants/person-attributes.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { startApi } from '../../support/api.ts'
import { ACTOR, movableClock, tenantNamed } from '../../support/control-plane.ts'

const AUDIT = { name: 'department', value: 'audit' }
const SALES = { name: 'department', value: 'sales' }
const RULES = [{ path: '/reports', allow: [{ attr: { department: 'audit' } }] }]

async function startPeople(t: Parameters<typeof startApi>[0]) {
  const clock = movableClock()
  const api = await startApi(t, { clock })
  const { services } = api
  const { tenants, users, personAttributes, revocations, store } = services
  await tenants.create(tenantNamed('acme'), ACTOR)
  const person = { username: 'ada', email: 'ada@example.test', name: 'Ada', password: '' }
  const { userId } = await users.create('acme', person, ACTOR)
  const whose = { tenantId: 'acme', userId }
  const outdated = async () => Object.keys((await revocations.revokedState('acme')).claims ?? {})
  const bits = async () => {
    const { gb = '' } = await groupClaimsOf(store.read, 'acme', userId)
    return Buffer.from(gb, 'base64url')[0]
  }
  const put = (...all: (typeof AUDIT)[]) => personAttributes.put(whose, all, ACTOR)
  return { ...api, clock, userId, whose, outdated, bits, put }
}

t.test(
  'a token says what rules ask for, and is made anew once that is another thing',
  async (t) => {
    const { services, bits, put, outdated, userId } = await startPeople(t)
    await put(AUDIT)
    t.equal(await bits(), undefined, 'no rule asks')
    t.same(await outdated(), [])
    await services.accessRules.put('acme', { rules: RULES }, ACTOR)
    t.equal(await bits(), 1)
    t.same(await outdated(), [], 'tokens of before know nothing of the bit')
    await put(AUDIT, { name: 'floor', value: '3' })
    t.same(await outdated(), [], 'no rule asks for the floor')
    await put(SALES)
    t.equal(await bits(), 0)
    t.same(await outdated(), [userId])
  },
)

t.test('a group and an attribute are never one another', async (t) => {
  const { services, bits, whose } = await startPeople(t)
  const { groups, accessRules, fleetSource, tenants } = services
  await tenants.publish('acme', ACTOR)
  await groups.create('acme', { name: 'audit' }, ACTOR)
  await groups.add({ ...whose, group: 'audit', source: 'local' }, ACTOR)
  const allow = [{ attr: { department: 'audit' } }, { group: 'audit' }]
  await accessRules.put('acme', { rules: [{ path: '/', allow }] }, ACTOR)
  t.equal(await bits(), 0b10, 'in the group alone')
  const { snapshot } = (await fleetSource.snapshot('acme'))!
  t.same(snapshot?.access?.slots, [{ slot: 1, since: 1, group: 'audit' }])
  t.same(snapshot?.access?.attribute_slots, [
    { slot: 0, since: 1, attribute: 'department', value: 'audit' },
  ])
  await accessRules.put('acme', { rules: [{ path: '/', allow: [{ group: 'audit' }] }] }, ACTOR)
  const after = (await fleetSource.snapshot('acme'))!
  t.notOk('attribute_slots' in after.snapshot!.access!, 'gateways of before serve it again')
})

t.test('each source takes back its own', async (t) => {
  const { services, put, bits, whose, outdated, clock } = await startPeople(t)
  const { accessRules, store, personAttributes } = services
  await accessRules.put('acme', { rules: RULES }, ACTOR)
  const say = (source: 'scim' | 'connection', ...attributes: (typeof AUDIT)[]) =>
    store.change((change) =>
      alterAttributesIn(
        change,
        { ...whose, source },
        { attributes, names: new Set(['department']) },
        ACTOR,
      ),
    )
  await say('scim', AUDIT)
  await put(AUDIT)
  t.equal((await outdated()).length, 1)
  const claims = async () => (await services.revocations.revokedState('acme')).claims
  const once = await claims()
  clock.advance(5000)
  await put()
  t.same(await claims(), once, 'no token is outdated by it')
  t.equal(await bits(), 1, 'by the provider still')
  await say('connection', SALES)
  t.equal(await bits(), 1)
  await say('scim')
  t.equal(await bits(), 0)
  const left = await personAttributes.list('acme', whose.userId)
  t.same(
    left.map(({ value, source }) => [value, source]),
    [['sales', 'connection']],
  )
  const { items } = await services.auditTrail.list({ limit: 20 }, { tenantId: 'acme' })
  const told = items.find(({ action }) => action === 'user.attributes_changed')
  t.same(told?.content, {
    ...{ user_id: whose.userId, source: 'scim', added: [], removed: ['department=audit'] },
  })
})

t.test('who could yesterday is answered by what they were', async (t) => {
  const { services, put, userId, clock } = await startPeople(t)
  const { accessRules, accessReview, users } = services
  await accessRules.put('acme', { rules: RULES }, ACTOR)
  await put(AUDIT)
  clock.advance(1000)
  const then = clock.nowMs()
  clock.advance(1000)
  await put(SALES)
  clock.advance(1000)
  const asked = { path: '/reports', method: 'GET', address: '', isStrong: false }
  const ask = (atMs: number) =>
    accessReview.ask('acme', { ...asked, signedInSecondsAgo: 60, userId, atMs })
  const before = await ask(then)
  t.equal(before.outcome.kind, 'forward')
  t.same(before.attributes, [AUDIT])
  const now = await ask(clock.nowMs())
  t.equal(now.outcome.kind, 'refuse')
  t.same(now.attributes, [SALES])
  clock.advance(LIMITS.auditKeptMs + 1)
  t.equal(await accessReview.pruneAttributes(100), 1)
  await put(AUDIT)
  await users.remove('acme', userId, ACTOR)
  for (const table of [schema.personAttributes, schema.pastAttributes])
    t.same(await services.store.read.select().from(table), [], 'nothing of them is kept')
})

t.test(
  'the API sets them, lists them with their source, and takes nothing that is none',
  async (t) => {
    const { call, userId, put } = await startPeople(t)
    const path = `/api/v1/operator/tenants/acme/users/${userId}/attributes`
    const body = { attributes: [AUDIT, { name: 'floor', value: '3' }] }
    const answer = await call('PUT', path, body)
    t.equal(answer.status, 200)
    t.match(answer.body, { enforced: {} })
    const { body: listed } = await call('GET', path)
    t.match(listed, { attributes: [AUDIT, { name: 'floor', value: '3', source: 'local' }] })
    const many = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ name: `a${at}`, value: 'x' }))
    t.equal(
      (await call('PUT', path, { attributes: many(LIMITS.attributesPerPersonMax) })).status,
      200,
    )
    await put()
    for (const attributes of [
      [AUDIT, AUDIT],
      [{ name: '__proto__', value: 'x' }],
      [{ name: 'Department', value: 'x' }],
      [{ name: 'department', value: 'a\u202eb' }],
      [{ name: 'department', value: ' audit' }],
      [{ name: 'department', value: 'x'.repeat(LIMITS.attributeValueCharactersMax + 1) }],
      [{ ...AUDIT, source: 'scim' }],
      many(LIMITS.attributesPerPersonMax + 1),
    ])
      t.equal((await call('PUT', path, { attributes })).status, 400, JSON.stringify(attributes))
    const { body: none } = await call('GET', path)
    t.same(none, { attributes: [] })
    const unknown = path.replace(userId, 'usr_nobody')
    t.equal((await call('PUT', unknown, body)).status, 404)
    t.equal((await call('GET', unknown)).status, 404)
  },
)

t.test(
  'rules that ask for attributes are saved, replayed and asked about by the API',
  async (t) => {
    const { call, userId, put, services, clock } = await startPeople(t)
    await services.sessions.record({
      ...{ tenantId: 'acme', sid: 'one', userId, ip: '192.0.2.1', userAgent: 'test' },
      ...{ issuedAtMs: clock.nowMs(), expiresAtMs: clock.nowMs() + 3_600_000 },
    })
    const path = '/api/v1/operator/tenants/acme/access-rules'
    const replay = async () =>
      (
        (await call('POST', `${path}/replay`, { rules: RULES })).body as {
          changes: object[]
        }
      ).changes
    t.match(await replay(), [{ path: '/reports', change: 'refused', ids: [userId] }])
    await put(AUDIT)
    t.same(await replay(), [], 'they are in the department')
    t.equal((await call('PUT', path, { rules: RULES })).status, 200)
    t.match((await call('GET', path)).body, { rules: RULES })
    const asked = { path: '/reports', user_id: userId }
    const { body } = await call('POST', `${path}/decision`, asked)
    t.match(body, { decision: 'forward', by: 'opened', groups: [], attributes: [AUDIT] })
    for (const attr of [
      '{"department":"audit "}',
      '{"__proto__":"x"}',
      '{"department":"audit","__proto__":"x"}',
      '{}',
    ]) {
      const text = `{"rules":[{"path":"/","allow":[{"attr":${attr}}]}]}`
      t.ok((await call('PUT', path, undefined, { raw: text })).status >= 400, attr)
    }
    t.match((await call('GET', path)).body, { rules: RULES })
  },
)
