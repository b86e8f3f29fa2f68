import t from 'tap'
import * as v from 'valibot'
import { eq } from '../../../control-plane/store/drizzle.ts'
import { fingerprintOf } from '../../../control-plane/tenants/snapshot.ts'
import { insertTenant } from '../../../control-plane/store/queries/tenants.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { TenantSnapshotSchema } from '../../../shared/fleet/snapshot.ts'
import { ACTOR, startServices, tenantNamed } from '../../support/control-plane.ts'

type Services = Awaited<ReturnType<typeof startServices>>

async function publish({ tenants }: Services, ...ids: string[]) {
  for (const id of ids) {
    await tenants.create(tenantNamed(id, { sealed: ['/internal'] }), ACTOR)
    await tenants.publish(id, ACTOR)
  }
}

async function idsOf(changes: AsyncIterable<{ tenant_id: string }>) {
  const ids: string[] = []
  for await (const { tenant_id } of changes) ids.push(tenant_id)
  return ids
}

void t.test('a snapshot is what a gateway parses, the same each time it is built', async (t) => {
  const services = await startServices(t)
  await publish(services, 'acme')
  await services.keys.rotate('acme', { phase: 'prepare' }, ACTOR)
  const once = await services.fleetSource.snapshot('acme')
  t.strictSame(v.parse(TenantSnapshotSchema, once?.snapshot), once?.snapshot)
  t.strictSame(await services.fleetSource.snapshot('acme'), once)
  t.equal(once?.snapshot?.keys.length, 2)
  t.notMatch(JSON.stringify(once?.snapshot?.keys), /"(?:d|p|q)":/, 'nothing private')
  t.equal(await services.fleetSource.snapshot('none'), undefined)
})

void t.test('all that are served are listed, over many pages', async (t) => {
  const services = await startServices(t)
  await publish(services, 'model')
  await services.tenants.create(tenantNamed('a-draft'), ACTOR)
  await services.tenants.create(tenantNamed('an-sdk', { mode: 'sdk' }), ACTOR)
  await services.tenants.publish('an-sdk', ACTOR)
  const count = LIMITS.fleetIndexEntriesSentMax * 2
  await services.store.change(async ({ queries }) => {
    const model = eq(schema.tenants.tenantId, 'model')
    const [row] = await queries.select().from(schema.tenants).where(model)
    if (row === undefined) throw new Error('no model')
    const clientSecretSealed = (id: string) =>
      services.vault.seal('secret', `tenants.client_secret:${id}`)
    for (let index = 0; index < count - 1; index++) {
      const tenantId = `t${index}`
      const own = { clientSecretSealed: clientSecretSealed(tenantId), analyzerKeyHash: tenantId }
      await insertTenant(queries, { ...row, ...own, tenantId })
    }
  })
  const ids = await idsOf(services.fleetSource.all())
  t.equal(ids.length, count)
  t.equal(new Set(ids).size, count)
  t.notOk(ids.includes('a-draft') || ids.includes('an-sdk'))

  const index = []
  for await (const page of services.fleetSource.index()) index.push(...page)
  t.same(
    index.map(({ tenant_id }) => tenant_id),
    ids,
    'and by their names alone',
  )
  t.equal(await services.fleetSource.count(), count)
})

void t.test('an entry says of a tenant what its snapshot says', async (t) => {
  const services = await startServices(t)
  await publish(services, 'acme', 'bravo')
  await services.tenants.patch('bravo', { mode: 'connector' }, ACTOR)
  await services.tenants.patch('acme', { hostnames: ['z.example', 'a.example'] }, ACTOR)
  const [page = []] = await Array.fromAsync(services.fleetSource.index())
  for (const { tenant_id, revision, hostnames, isAlwaysTold } of page) {
    const change = await services.fleetSource.snapshot(tenant_id)
    t.equal(revision, change?.revision)
    t.same(hostnames, Object.keys(change?.snapshot?.edge_urls ?? {}))
    t.equal(isAlwaysTold, tenant_id === 'bravo', 'connectors dial before anybody asks')
  }
  t.equal(page.length, 2)
})

void t.test('whatever all snapshots depend on has a fingerprint of its own', (t) => {
  const plain = (hostname: string) => `http://${hostname}:8000`
  const first = fingerprintOf('https://id.example', plain)
  t.equal(fingerprintOf('https://id.example', plain), first)
  t.not(fingerprintOf('https://other.example', plain), first)
  t.not(
    fingerprintOf('https://id.example', (hostname) => `https://${hostname}`),
    first,
  )
  t.end()
})

void t.test('changes come in the order of revisions, the gone among them', async (t) => {
  const services = await startServices(t)
  await publish(services, 'a', 'b', 'c')
  const { fleetSource, tenants } = services
  const { revision } = await fleetSource.position()
  await tenants.remove('b', ACTOR)
  await tenants.patch('a', { name: 'Changed' }, ACTOR)
  await tenants.patch('c', { mode: 'sdk' }, ACTOR)
  await tenants.patch('a', { name: 'Again' }, ACTOR)
  const changes = await fleetSource.changedSince(revision, 10)
  t.match(changes, [
    { tenant_id: 'b', revision: revision + 1, snapshot: null },
    { tenant_id: 'c', revision: revision + 3, snapshot: null },
    { tenant_id: 'a', revision: revision + 4, snapshot: { name: 'Again' } },
  ])
  t.equal(changes.length, 3)
  t.match(await fleetSource.changedSince(revision, 1), [{ tenant_id: 'b' }])
  t.strictSame(await fleetSource.changedSince(revision + 4, 10), [])
})

void t.test('one tenant that cannot be read keeps no other from the fleet', async (t) => {
  const services = await startServices(t)
  await publish(services, 'a', 'b', 'c')
  const { fleetSource, store } = services
  await store.change(async ({ queries }) => {
    const b = eq(schema.tenants.tenantId, 'b')
    const c = eq(schema.tenants.tenantId, 'c')
    const [row] = await queries.select().from(schema.tenants).where(c)
    const moved = { clientSecretSealed: row?.clientSecretSealed ?? '' }
    await queries.update(schema.tenants).set(moved).where(b) // a value of another row does not open
  })
  const changes: unknown[] = []
  for await (const change of fleetSource.all()) changes.push(change)
  t.match(changes, [
    { tenant_id: 'a', snapshot: { tenant_id: 'a' } },
    { tenant_id: 'b', snapshot: null, problem: String },
    { tenant_id: 'c', snapshot: { tenant_id: 'c' } },
  ])
  t.notMatch(JSON.stringify(changes[1]), /scs_/)
})

void t.test('revocations are listed whatever the state of their tenant', async (t) => {
  const { tenants, revocations, fleetSource } = await startServices(t)
  for (const id of ['a', 'b']) await tenants.create(tenantNamed(id), ACTOR)
  const { notBefore } = await revocations.revoke('b', { all: true }, ACTOR)
  const found: unknown[] = []
  for await (const state of fleetSource.revoked()) found.push(state)
  t.strictSame(found, [{ tenant_id: 'b', revoked: { all: notBefore, subjects: {}, sids: {} } }])
})
