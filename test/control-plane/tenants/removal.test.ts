/** A tenant goes at once; what it has left behind goes in slices, and keeps nobody waiting. */
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { OwnFacts } from '../../../control-plane/accounts/attempts.ts'
import { createRealmRecords } from '../../../control-plane/realm/records.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import type { Store } from '../../../control-plane/store/store.ts'
import { createRemoval } from '../../../control-plane/tenants/removal.ts'
import { keepShadow } from '../../../control-plane/user-directory/shadow-users.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR, movableClock, startServices, tenantNamed } from '../../support/control-plane.ts'

const SLICE = LIMITS.rowsDeletedAtOnceMax
type Scope = Parameters<typeof startServices>[0]

async function start(t: Scope, records: number) {
  const clock = movableClock()
  const services = await startServices(t, { clock })
  const { store, tenants } = services
  for (const tenantId of ['acme', 'bolt']) {
    await tenants.create(tenantNamed(tenantId), ACTOR)
    await tenants.publish(tenantId, ACTOR)
  }
  await services.users.create(
    'acme',
    { username: 'ada', email: 'ada@acme.test', name: 'Ada', password: 'a lantern on the pier' },
    ACTOR,
  )
  await store.change(async ({ queries, nowMs }) => {
    for (let at = 0; at < records; at += 100) {
      const rows = Array.from({ length: Math.min(100, records - at) }, (_, index) => ({
        tenantId: 'acme',
        model: 'Session',
        idHash: `id${at + index}`,
        payloadSealed: '',
        expiresAt: nowMs + 1e9,
      }))
      await queries.insert(schema.realmRecords).values(rows)
    }
  })
  const countLeft = async () => {
    let left = 0
    for (const [name, table] of Object.entries(schema)) {
      if (!('tenantId' in table) || ['audit', 'tenantTombstones'].includes(name)) continue
      const rows = (await store.read.select().from(table)) as { tenantId: string | null }[]
      left += rows.filter(({ tenantId }) => tenantId === 'acme').length
    }
    return left
  }
  return { ...services, clock, countLeft }
}

/** Everything but the first so many changes fails: as where the process ends, or the disk is full. */
function cutOffAfter(store: Store, changes: number): Store {
  let left = changes
  return {
    ...store,
    change: (work) =>
      left-- > 0 ? store.change(work) : Promise.reject(new Error('the store is closed')),
  }
}

void t.test('it is gone at once, and others have their turn between all slices', async (t) => {
  const { store, clock, tenants, countLeft } = await start(t, 3 * SLICE)
  const slices: number[] = []
  let asked = 0
  let hadTurn = 0
  const watched: Store = {
    ...store,
    change: (work) =>
      store.change(async (change) => {
        t.equal(hadTurn, asked, 'whoever came during a slice had their turn before the next')
        const records = () => change.queries.$count(schema.realmRecords)
        const before = await records()
        asked++
        void store.change(async () => void hadTurn++)
        const done = await work(change)
        slices.push(before - (await records()))
        return done
      }),
  }
  const removed = createRemoval({ store: watched, clock }).remove('acme', ACTOR)
  while (asked < 2) await setImmediate() // the first is kept by then
  t.equal(await tenants.find('acme'), undefined, 'from the first on')
  await removed
  t.ok(Math.max(...slices) <= SLICE, `of ${SLICE} rows each`)
  t.ok(slices.length > 3)
  t.equal(await countLeft(), 0)
})

void t.test('nobody gets its id before nothing is left, nor anything of it', async (t) => {
  const { store, clock, tenants, users, countLeft } = await start(t, SLICE + 1)
  await createRemoval({ store: cutOffAfter(store, 2), clock }).remove('acme', ACTOR)
  t.equal(await tenants.find('acme'), undefined)
  t.ok((await countLeft()) > 0, 'cut off')
  await t.rejects(tenants.remove('acme', ACTOR), { code: 'tenant_not_found' })
  await tenants.create(tenantNamed('acme'), ACTOR)
  t.same((await store.read.select().from(schema.realmRecords)).length, 0)
  t.same((await users.list('acme', { limit: 10 })).items, [])
})

void t.test('where it was cut off the jobs go on, and leave all others alone', async (t) => {
  const { store, clock, tenants, jobs, countLeft } = await start(t, SLICE + 1)
  for (const tenantId of ['acme', 'bolt'])
    await store.change(({ queries, nowMs }) =>
      queries
        .insert(schema.analyses)
        .values({ analysisId: tenantId, tenantId, startedAt: nowMs, outcome: 'guide', tokens: 7 })
        .then(() => undefined),
    )
  await createRemoval({ store: cutOffAfter(store, 1), clock }).remove('acme', ACTOR)
  await jobs.run()
  t.equal(await countLeft(), 0)
  t.ok(await tenants.find('bolt'))
  const analyses = await store.read.select().from(schema.analyses)
  t.same(analyses.map(({ tenantId }) => tenantId).sort(), ['', 'bolt'])
})

const LATE = { tenantId: 'acme', model: 'Session', payloadSealed: '', expiresAt: 9e12 }

/** By somebody who has not asked whether the tenant is still there. */
const writeLate = async (store: Store, count = 1) =>
  store.change(async ({ queries }) => {
    const rows = Array.from({ length: count }, (_, index) => ({ ...LATE, idHash: `late${index}` }))
    await queries.insert(schema.realmRecords).values(rows)
    const kept = { tenantId: 'acme', name: 'network' as const, settings: {}, updatedAt: 1 }
    await queries.insert(schema.tenantPolicies).values(kept)
  })

void t.test('what is written behind the last slice is nobody’s', async (t) => {
  const { store, clock, tenants, jobs, countLeft } = await start(t, 0)
  await tenants.remove('acme', ACTOR)
  await writeLate(store, SLICE + 1)
  await jobs.run()
  t.equal(await countLeft(), SLICE + 2, 'nobody looks at once')
  clock.advance(LIMITS.removedSweptAgainMs)
  await jobs.run()
  t.equal(await countLeft(), 0)

  await writeLate(store, SLICE + 1)
  await tenants.create(tenantNamed('acme'), ACTOR)
  t.equal((await store.read.select().from(schema.realmRecords)).length, 0)
  t.equal(await tenants.find('bolt').then((bolt) => bolt?.status), 'published')

  await writeLate(store)
  clock.advance(LIMITS.removedSweptAgainMs)
  await jobs.run()
  await t.rejects(tenants.create(tenantNamed('acme'), ACTOR), { code: 'tenant_taken' })
  t.equal((await store.read.select().from(schema.realmRecords)).length, 1, 'its own stay')
})

void t.test('whoever has waited for something asks for the tenant before they write', async (t) => {
  const { store, tenants, sessions, trialPeople, countLeft, ...rest } = await start(t, 0)
  const { revocations, attempts, policies, clock, vault } = rest
  const decided = await policies.of('acme')
  const { number } = await tenants.get('acme')
  await tenants.remove('acme', ACTOR)
  const gone = { code: 'tenant_not_found' }
  const person = { externalId: '7', username: 'eve', email: 'eve@x.test', name: 'E' }
  const keep = () =>
    keepShadow(store, 'acme', { ...person, isDisabled: false }, number, () => undefined)
  await t.rejects(keep(), gone)
  const issuedAtMs = clock.nowMs()
  const session = { tenantId: 'acme', sid: 's', userId: 'u', ip: '192.0.2.1', userAgent: 'x' }
  const issued = { ...session, issuedAtMs, expiresAtMs: issuedAtMs + 1000 }
  await t.rejects(sessions.record(issued), gone)
  await t.rejects(trialPeople.create('acme'), gone)
  const facts: OwnFacts = {
    at: Math.floor(clock.nowMs() / 1000),
    address: '192.0.2.1',
    password: 'wrong',
    passwordChangedAt: null,
    device: { isKnown: false, isNetworkKnown: false },
    factors: [],
    proof: 'none',
    isStepUp: false,
    sessions: 0,
  }
  const attempt = { ...session, userId: undefined, loginHash: 'x', countedAs: '192.0.2.1' }
  const settled = store.change((change) => attempts.settle(change, attempt, facts, decided))
  await t.rejects(settled, gone)
  await t.rejects(attempts.refuseTooMany(attempt, facts, decided), gone)
  const onCodeReused = () => Promise.resolve()
  const records = createRealmRecords({ store, vault, clock, tenantId: 'acme', onCodeReused })
  await t.rejects(records.adapter('Grant').upsert('g', {}, 60), gone)
  await t.rejects(records.adapter('Interaction').upsert('i', {}, 60), gone)
  await revocations.end('acme', 's', ACTOR, 'signed_out')
  t.equal(await countLeft(), 0)
  await tenants.create(tenantNamed('acme'), ACTOR)
  await t.rejects(keep(), gone, 'nor is it whoever has been given the id meanwhile')
})
