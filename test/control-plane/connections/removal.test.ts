/** A connection by which very many come in is removed, and others write meanwhile. */
import t from 'tap'
import { createConnections } from '../../../control-plane/connections/connections.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import type { Store } from '../../../control-plane/store/store.ts'
import { ACTOR, startServices, tenantNamed } from '../../support/control-plane.ts'

const ISSUER = 'https://idp.example.com'
const WISHED = {
  preset: 'oidc' as const,
  name: 'Company',
  issuer: ISSUER,
  clientId: 'us',
  clientSecret: 'secret',
  hostedDomain: null,
  createsPeople: true,
  mfaValues: [],
}

t.test('who comes in by a connection goes some in each change', async (t) => {
  const { store, vault, tenants } = await startServices(t)
  await tenants.create(tenantNamed('acme'), ACTOR)
  const gone: number[] = []
  let isCut = true
  const change: Store['change'] = (work) =>
    store.change(async (change) => {
      if (isCut && gone.length === 1) throw new Error('the process ends here')
      const left = () => change.queries.$count(schema.connectionIdentities)
      const before = await left()
      const result = await work(change)
      gone.push(before - (await left()))
      return result
    })
  const whole = createConnections({ store, vault })
  const { connectionId } = await whole.create('acme', WISHED, ACTOR)
  await store.change(async ({ queries }) => {
    const people = Array.from({ length: 600 }, (_, at) => ({
      ...{ connectionId, issuer: ISSUER, subject: `sub-${at}`, tenantId: 'acme' },
      ...{ userId: `usr_${at}`, createdAt: 1 },
    }))
    await queries.insert(schema.connectionIdentities).values(people)
    await queries.update(schema.connections).set({ state: 'active', testedAt: 1 })
  })

  const connections = createConnections({ store: { ...store, change }, vault })
  await t.rejects(connections.remove('acme', connectionId, ACTOR), /process ends/)
  const between = { state: 'draft', testedAt: null }
  t.match(await whole.get('acme', connectionId), between, 'and nobody comes in as somebody new')
  isCut = false
  await connections.remove('acme', connectionId, ACTOR)
  t.same(gone, [250, 250, 100])
  await t.rejects(whole.get('acme', connectionId), { code: 'connection_not_found' })
})
