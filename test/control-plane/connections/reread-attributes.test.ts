/** A connection reads an attribute elsewhere from now on: what it has read before counts no more. */
import t from 'tap'
import { createConnections } from '../../../control-plane/connections/connections.ts'
import { insertAttributes } from '../../../control-plane/store/queries/attributes.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import type { Store } from '../../../control-plane/store/store.ts'
import { ACTOR, startServices, tenantNamed } from '../../support/control-plane.ts'

const DEPARTMENT = { attribute: 'department', claim: 'dept' }
const FLOOR = { attribute: 'floor', claim: 'floor' }
const WISHED = {
  preset: 'oidc' as const,
  name: 'Company',
  issuer: 'https://idp.example.com',
  clientId: 'us',
  clientSecret: 'secret',
  hostedDomain: null,
  createsPeople: true,
  mfaValues: [],
  attributes: [DEPARTMENT, FLOOR],
}

const PEOPLE = 250

async function start(t: Parameters<typeof startServices>[0]) {
  const services = await startServices(t)
  const { store, tenants, connections } = services
  await tenants.create(tenantNamed('acme'), ACTOR)
  const { connectionId } = await connections.create('acme', WISHED, ACTOR)
  const row = (at: number, name: string, source: 'connection' | 'scim') => {
    return { tenantId: 'acme', userId: `usr_${at}`, name, value: 'x', source, createdAt: 1 }
  }
  const people = Array.from({ length: PEOPLE }, (_, at) => at)
  await store.change(({ queries }) =>
    insertAttributes(queries, [
      ...people.flatMap((at) => [
        row(at, 'department', 'connection'),
        row(at, 'floor', 'connection'),
      ]),
      row(0, 'department', 'scim'),
    ]),
  )
  return {
    ...services,
    connectionId,
    left: async () => {
      const rows = await store.read.select().from(schema.personAttributes)
      const counts: Record<string, number> = {}
      for (const { name, source } of rows)
        counts[`${name} ${source}`] = (counts[`${name} ${source}`] ?? 0) + 1
      return counts
    },
  }
}

t.test('another claim: its attribute is taken from everybody, and no other', async (t) => {
  const { connections, connectionId, left } = await start(t)
  const attributes = [{ ...DEPARTMENT, claim: 'division' }, FLOOR]
  const now = await connections.patch('acme', connectionId, { attributes }, ACTOR)
  t.same(now.attributes, attributes, 'and is mapped anew')
  t.same(await left(), { 'floor connection': PEOPLE, 'department scim': 1 })
})

t.test('another issuer: all of its attributes are', async (t) => {
  const { connections, connectionId, left } = await start(t)
  const issuer = 'https://other.example.com'
  const now = await connections.patch('acme', connectionId, { issuer }, ACTOR)
  t.same(now.attributes, WISHED.attributes)
  t.equal(now.issuer, issuer)
  t.same(await left(), { 'department scim': 1 })
})

t.test('other settings, or another order, take nothing', async (t) => {
  const { connections, connectionId, left } = await start(t)
  const before = await left()
  const attributes = [FLOOR, DEPARTMENT]
  await connections.patch('acme', connectionId, { name: 'Other', attributes }, ACTOR)
  t.same(await left(), before)
})

t.test('a change that is refused takes nothing either', async (t) => {
  const { connections, connectionId, left } = await start(t)
  const before = await left()
  const patch = { issuer: 'http://plain.example.com' }
  await t.rejects(connections.patch('acme', connectionId, patch, ACTOR))
  t.same(await left(), before)
  t.same((await connections.get('acme', connectionId)).attributes, WISHED.attributes)
})

t.test('who was interrupted finds it unmapped, and maps it again', async (t) => {
  const { store, vault, connections, connectionId, left } = await start(t)
  let changes = 0
  const change: Store['change'] = (work) => {
    if (++changes > 2) throw new Error('the process ends here')
    return store.change(work)
  }
  const cut = createConnections({ store: { ...store, change }, vault })
  const attributes = [{ ...DEPARTMENT, claim: 'division' }, FLOOR]
  await t.rejects(cut.patch('acme', connectionId, { attributes }, ACTOR), /process ends/)
  t.same((await connections.get('acme', connectionId)).attributes, [FLOOR])
  t.ok(((await left())['department connection'] ?? 0) > 0, 'not all are taken')
  await connections.patch('acme', connectionId, { attributes }, ACTOR)
  t.same((await connections.get('acme', connectionId)).attributes, attributes)
  t.same(await left(), { 'floor connection': PEOPLE, 'department scim': 1 })
})
