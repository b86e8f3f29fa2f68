/** A tenant goes at once; what it has left behind goes in slices, and keeps nobody waiting. */
import t from 'tap'
import { schema } from '../../../control-plane/store/schema.ts'
import type { Store } from '../../../control-plane/store/store.ts'
import { createRemoval } from '../../../control-plane/tenants/removal.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR, startServices, tenantNamed } from '../../support/control-plane.ts'

const SLICE = LIMITS.rowsDeletedAtOnceMax
type Scope = Parameters<typeof startServices>[0]

async function start(t: Scope, records: number) {
  const services = await startServices(t)
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
  return { ...services, countLeft }
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
  const { store, tenants, countLeft } = await start(t, 3 * SLICE)
  const leftThen: number[] = []
  let isRemoved = false
  const removed = tenants.remove('acme', ACTOR).then(() => (isRemoved = true))
  while (!isRemoved) {
    await store.change(async () => {})
    t.equal(await tenants.find('acme'), undefined, 'from the first on')
    leftThen.push(await countLeft())
  }
  await removed
  const slices = leftThen.map((left, at) => (leftThen[at - 1] ?? left) - left)
  t.ok(Math.max(...slices) <= 2 * SLICE, 'a change of somebody else’s behind each')
  t.ok(leftThen.length >= 3)
  t.equal(await countLeft(), 0)
})

void t.test('nobody gets its id before nothing is left, nor anything of it', async (t) => {
  const { store, tenants, users, countLeft } = await start(t, SLICE + 1)
  await createRemoval({ store: cutOffAfter(store, 2) }).remove('acme', ACTOR)
  t.equal(await tenants.find('acme'), undefined)
  t.ok((await countLeft()) > 0, 'cut off')
  await t.rejects(tenants.remove('acme', ACTOR), { code: 'tenant_not_found' })
  await tenants.create(tenantNamed('acme'), ACTOR)
  t.same((await store.read.select().from(schema.realmRecords)).length, 0)
  t.same((await users.list('acme', { limit: 10 })).items, [])
})

void t.test('where it was cut off the jobs go on, and leave all others alone', async (t) => {
  const { store, tenants, jobs, countLeft } = await start(t, SLICE + 1)
  for (const tenantId of ['acme', 'bolt'])
    await store.change(({ queries, nowMs }) =>
      queries
        .insert(schema.analyses)
        .values({ analysisId: tenantId, tenantId, startedAt: nowMs, outcome: 'guide', tokens: 7 })
        .then(() => undefined),
    )
  await createRemoval({ store: cutOffAfter(store, 1) }).remove('acme', ACTOR)
  await jobs.run()
  t.equal(await countLeft(), 0)
  t.ok(await tenants.find('bolt'))
  const analyses = await store.read.select().from(schema.analyses)
  t.same(analyses.map(({ tenantId }) => tenantId).sort(), ['', 'bolt'])
})
