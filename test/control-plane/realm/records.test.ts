/** What the provider expects of its adapter, on the real store; and what it must not find there. */
import type { AdapterPayload } from 'oidc-provider'
import t, { type Test } from 'tap'
import { createRealmRecords, FINISHED_MS } from '../../../control-plane/realm/records.ts'
import {
  beginState,
  exhausted,
  withState,
} from '../../../control-plane/realm/sign-in/attempt-state.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { deleteRealmRecords } from '../../../control-plane/store/queries/revocations.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR, movableClock, startServices, tenantNamed } from '../../support/control-plane.ts'

async function startRecords(t: Test) {
  const clock = movableClock()
  const { store, vault, tenants } = await startServices(t, { clock })
  await tenants.create(tenantNamed('acme'), ACTOR)
  const reused: string[] = []
  const recordsOf = (tenantId: string) =>
    createRealmRecords({
      store,
      vault,
      clock,
      tenantId,
      onCodeReused: async (sids) => void reused.push(...sids),
    })
  return { clock, store, vault, reused, recordsOf, records: recordsOf('acme') }
}

t.test('a record is found until it expires, as it was last written', async (t) => {
  const { records, clock } = await startRecords(t)
  const grants = records.adapter('Grant')
  t.equal(await grants.find('g1'), undefined)
  await grants.upsert('g1', { jti: 'g1', accountId: 'ada' }, 60)
  await grants.upsert('g1', { jti: 'g1', accountId: 'bob' }, 60)
  t.match(await grants.find('g1'), { accountId: 'bob' })
  clock.advance(59_999)
  t.ok(await grants.find('g1'))
  clock.advance(1)
  t.equal(await grants.find('g1'), undefined)
  await t.rejects(grants.upsert('g2', { jti: 'g2' }), /must not live for ever/)
})

t.test(
  'a session is found by its uid, and under its new id only after it was renamed',
  async (t) => {
    const { records } = await startRecords(t)
    const sessions = records.adapter('Session')
    await sessions.upsert('s1', { jti: 's1', uid: 'u1', accountId: 'ada' }, 60)
    await sessions.destroy('s1')
    await sessions.upsert('s2', { jti: 's2', uid: 'u1', accountId: 'ada' }, 60)
    t.match(await sessions.findByUid('u1'), { jti: 's2' })
    t.equal(await sessions.find('s1'), undefined)
    t.equal(await sessions.findByUid('u2'), undefined)
  },
)

t.test('a code is consumed once, however many try, and then takes its grant with it', async (t) => {
  const { records, reused } = await startRecords(t)
  const codes = records.adapter('AuthorizationCode')
  const tokens = records.adapter('AccessToken')
  const grants = records.adapter('Grant')
  await grants.upsert('g1', { jti: 'g1' }, 60)
  await codes.upsert('c1', { jti: 'c1', grantId: 'g1', sid: 'sid-1' }, 60)
  await tokens.upsert('t1', { jti: 't1', grantId: 'g1', sid: 'sid-1' }, 60)
  await tokens.upsert('t2', { jti: 't2', grantId: 'g2', sid: 'sid-2' }, 60)
  const tries = await Promise.allSettled([1, 2, 3].map(() => codes.consume('c1')))
  t.equal(tries.filter(({ status }) => status === 'fulfilled').length, 1)
  t.same(reused, ['sid-1'])
  t.equal(await codes.find('c1'), undefined)
  t.equal(await tokens.find('t1'), undefined)
  t.equal(await grants.find('g1'), undefined)
  t.ok(await tokens.find('t2'), 'what belongs to another grant stays')
})

t.test('sign-ins that are opened while the writer is busy are one commit', async (t) => {
  const { records, store } = await startRecords(t)
  const interactions = records.adapter('Interaction')
  let commits = 0
  const { changeOf } = store
  store.changeOf = (tenantId, work) => {
    commits++
    return changeOf(tenantId, work)
  }
  const busy = Promise.withResolvers<void>()
  const before = store.change(() => busy.promise)
  const opened = ['i1', 'i2', 'i3'].map((id) => interactions.upsert(id, { jti: id }, 3600))
  busy.resolve()
  await Promise.all([before, ...opened])
  t.equal(commits, 1)
  for (const id of ['i1', 'i2', 'i3']) t.match(await interactions.find(id), { jti: id })

  const one = interactions.upsert('i4', { jti: 'i4' }, 3600) // the writer is free: it begins at once
  const two = interactions.upsert('i5', { jti: 'i5' }, 3600)
  await Promise.all([one, two])
  for (const id of ['i4', 'i5']) t.match(await interactions.find(id), { jti: id })
  await store.close()
  for (const id of ['i6', 'i7'])
    await t.rejects(interactions.upsert(id, { jti: id }, 3600), /closed/, 'and none waits for ever')
})

t.test('a used code says so when it is found again', async (t) => {
  const { records, clock } = await startRecords(t)
  const codes = records.adapter('AuthorizationCode')
  await codes.upsert('c1', { jti: 'c1', grantId: 'g1' }, 60)
  await codes.consume('c1')
  t.match(await codes.find('c1'), { consumed: Math.floor(clock.nowMs() / 1000) })
})

t.test('a finished sign-in is gone for the provider, and known to us for a while', async (t) => {
  const { records, clock } = await startRecords(t)
  const interactions = records.adapter('Interaction')
  await interactions.upsert('i1', { jti: 'i1', params: { state: 'x' } }, 3600)
  t.match(await records.signIn('i1'), { isFinished: false })
  await interactions.destroy('i1')
  t.equal(await interactions.find('i1'), undefined)
  t.match(await records.signIn('i1'), { isFinished: true, payload: { params: { state: 'x' } } })
  clock.advance(FINISHED_MS)
  t.equal(await records.signIn('i1'), undefined)
})

t.test('ids are not kept, payloads are sealed, and neither opens in another realm', async (t) => {
  const { records, recordsOf, store } = await startRecords(t)
  const payload = { jti: 'secret-code', grantId: 'g1', accountId: 'ada', nonce: 'secret-nonce' }
  await records.adapter('AuthorizationCode').upsert('secret-code', payload, 60)
  const rows = await store.read.select().from(schema.realmRecords)
  t.notMatch(JSON.stringify(rows), /secret/)
  t.equal(await recordsOf('bolt').adapter('AuthorizationCode').find('secret-code'), undefined)
  await store.change(async ({ queries }) => {
    await queries.update(schema.realmRecords).set({ model: 'AccessToken' })
  })
  t.equal(await records.adapter('AccessToken').find('secret-code'), undefined)
})

t.test('a row that was moved to another record does not open', async (t) => {
  const { records, store } = await startRecords(t)
  const codes = records.adapter('AuthorizationCode')
  await codes.upsert('mine', { jti: 'mine', accountId: 'mallory' }, 60)
  await codes.upsert('hers', { jti: 'hers', accountId: 'ada' }, 60)
  const [mine, hers] = await store.read.select().from(schema.realmRecords)
  await store.change(async ({ queries }) => {
    await queries.delete(schema.realmRecords)
    if (mine && hers)
      await queries
        .insert(schema.realmRecords)
        .values({ ...mine, payloadSealed: hers.payloadSealed })
  })
  await t.rejects(codes.find('mine'))
  t.equal(await codes.find('hers'), undefined)
})

t.test('who has shown a password counts no more among the open ones', async (t) => {
  const { records, store } = await startRecords(t)
  const interactions = records.adapter('Interaction')
  const openedBy = async () =>
    (await store.read.select().from(schema.realmRecords)).map((row) => row.openedBy)
  await interactions.upsert('x1', {}, 3600)
  await store.change(({ queries }) =>
    queries.update(schema.realmRecords).set({ openedBy: '192.0.2.1' }),
  )
  const save = (payload: AdapterPayload) =>
    store.change(({ queries }) => records.saveSignIn(queries, 'x1', payload))
  await save(exhausted({}))
  t.same(await openedBy(), ['192.0.2.1'], 'asking for the password again proves nothing')
  await save(withState({}, beginState('ada', 0, 'browser')))
  t.same(await openedBy(), [null])
  await interactions.upsert('x1', {}, 3600)
  t.same(await openedBy(), [null])
})

t.test('one account has so many sessions and grants, and the newest stay', async (t) => {
  const { records, store, clock } = await startRecords(t)
  const { realmRecordsPerPersonMax: most, realmRecordsEndedAtOnceMax: atOnce } = LIMITS
  const rowOf = (model: string, at: number, accountId = 'ada') => ({
    ...{ tenantId: 'acme', model, idHash: `${accountId}-${at}`, accountId, payloadSealed: '' },
    expiresAt: clock.nowMs() + 1_000_000 - at, // a tenant's sessions have become shorter meanwhile
  })
  const insert = (rows: ReturnType<typeof rowOf>[]) =>
    store.change(async ({ queries }) => {
      for (let at = 0; at < rows.length; at += 100)
        await queries.insert(schema.realmRecords).values(rows.slice(at, at + 100))
    })
  const count = async () => {
    const rows = await store.read.select().from(schema.realmRecords)
    return Object.fromEntries(
      [...Map.groupBy(rows, ({ model, accountId }) => `${accountId} ${model}`)].map(
        ([name, own]) => [name, own.length],
      ),
    )
  }
  const grant = (id: string) =>
    records.adapter('Grant').upsert(id, { jti: id, accountId: 'ada' }, 60)
  const times = Array.from({ length: most + 1 }, (_, at) => at)
  await insert(times.flatMap((at) => [rowOf('Session', at), rowOf('Grant', at)]))
  await insert([rowOf('Session', 0, 'bob'), rowOf('AccessToken', 0)])
  await grant('g1')
  const others = { 'bob Session': 1, 'ada AccessToken': 1 }
  t.same(await count(), { 'ada Session': most, 'ada Grant': most, ...others })
  t.ok(await records.adapter('Grant').find('g1'))
  const kept = await store.read.select().from(schema.realmRecords)
  t.notOk(
    kept.some(({ model, idHash }) => model === 'Session' && idHash === 'ada-0'),
    'the oldest went',
  )

  await insert(Array.from({ length: atOnce }, (_, at) => rowOf('AccessToken', at + 1)))
  const all = Object.values(await count()).reduce((sum, own) => sum + own, 0)
  await store.change(({ queries }) => deleteRealmRecords(queries, 'acme', { subject: 'ada' }))
  const left = Object.values(await count()).reduce((sum, own) => sum + own, 0)
  t.equal(all - left, atOnce, 'so many by one revocation, of a person who has more')
})
