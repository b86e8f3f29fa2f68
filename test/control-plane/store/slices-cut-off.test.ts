/** Changes that go in slices, and what is left where they are cut off or held up. */
import t from 'tap'
import { removeUser } from '../../../control-plane/accounts/user-removal.ts'
import { createConnections } from '../../../control-plane/connections/connections.ts'
import { createIdentities } from '../../../control-plane/connections/identities.ts'
import { createEnforcement } from '../../../control-plane/events/enforcement.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import type { Store } from '../../../control-plane/store/store.ts'
import { movableClock, ACTOR, startServices, tenantNamed } from '../../support/control-plane.ts'

const ADA = { username: 'ada', email: 'ada@acme.example', name: 'Ada', password: 'long enough' }
const ISSUER = 'https://idp.example.com'
const WISHED = {
  preset: 'oidc' as const,
  name: 'Company',
  issuer: ISSUER,
  clientId: 'us',
  clientSecret: 's',
  hostedDomain: null,
  createsPeople: true,
  mfaValues: [],
}
async function start(t: Parameters<typeof startServices>[0]) {
  const clock = movableClock()
  const s = await startServices(t, { clock })
  await s.tenants.create(tenantNamed('acme'), ACTOR)
  const ada = await s.users.create('acme', ADA, ACTOR)
  const times = { issuedAtMs: clock.nowMs(), expiresAtMs: clock.nowMs() + 3_600_000 }
  await s.sessions.record({
    tenantId: 'acme',
    userId: ada.userId,
    ip: '',
    userAgent: '',
    sid: 'of-ada',
    ...times,
  })
  return { ...s, ada, clock }
}
const member = (userId: string, group: string, source: 'scim' | 'connection' | 'local') => ({
  tenantId: 'acme',
  userId,
  group,
  source,
  createdAt: 1,
})

t.test('whoever is removed with little on them is there whole, or not at all', async (t) => {
  const { store, users, ada } = await start(t)
  await store.change(({ queries }) =>
    queries.insert(schema.groupMembers).values(member(ada.userId, 'barred', 'scim')),
  )
  let n = 0
  const change: Store['change'] = async (work) => {
    if (n++ === 1) throw new Error('cut')
    return store.change(work)
  }
  await removeUser({ change }, { tenantId: 'acme', userId: ada.userId }, ACTOR).catch((e) =>
    t.comment(String(e)),
  )
  const user = await users.get('acme', ada.userId).catch(() => undefined)
  const groups = await store.read.select().from(schema.groupMembers)
  t.ok(user === undefined || user.isDisabled || groups.length === 1, 'all, or nothing, or disabled')
})

t.test('who signs in again and again does not put off that they are disconnected', async (t) => {
  const { store, vault, ada, clock } = await start(t)
  const { connectionId } = await createConnections({ store, vault }).create('acme', WISHED, ACTOR)
  const names = Array.from({ length: 150 }, (_, at) => `group ${at}`)
  const fill = () =>
    store.change(async ({ queries }) => {
      for (const g of names)
        await queries
          .insert(schema.groupMembers)
          .values(member(ada.userId, g, 'connection'))
          .onConflictDoNothing()
    })
  await store.change(async ({ queries }) => {
    await queries.insert(schema.connectionIdentities).values({
      connectionId,
      issuer: ISSUER,
      subject: 's',
      tenantId: 'acme',
      userId: ada.userId,
      createdAt: 1,
    })
  })
  await fill()
  let n = 0
  const change: Store['change'] = async (work) => {
    const result = await store.change(work)
    clock.advance(5)
    if (++n >= 30) throw new Error('given up after 30 changes')
    if ((await store.read.select().from(schema.connectionIdentities)).length > 0) await fill() // a sign-in, as syncGroups
    return result
  }
  await createIdentities({ store: { ...store, change } })
    .remove('acme', ada.userId, connectionId, ACTOR)
    .catch((e) => t.comment(String(e)))
  const left = await store.read.select().from(schema.connectionIdentities)
  t.equal(left.length, 0)
})

t.test(
  'a claim is read anew although people come in by another connection meanwhile',
  async (t) => {
    const { store, vault } = await start(t)
    const D = { attribute: 'department', claim: 'dept' }
    const whole = createConnections({ store, vault })
    const { connectionId } = await whole.create('acme', { ...WISHED, attributes: [D] }, ACTOR)
    await whole.create(
      'acme',
      { ...WISHED, name: 'Other', issuer: 'https://other.example.com', attributes: [D] },
      ACTOR,
    )
    let k = 0
    const come = () =>
      store.change(({ queries }) =>
        queries.insert(schema.personAttributes).values({
          tenantId: 'acme',
          userId: `usr_${k++}`,
          name: 'department',
          value: 'x',
          source: 'connection',
          createdAt: 1,
        }),
      )
    await come()
    let n = 0
    const change: Store['change'] = async (work) => {
      const result = await store.change(work)
      if (++n >= 50) throw new Error('given up after 50 changes')
      await come()
      return result
    }
    await createConnections({ store: { ...store, change }, vault })
      .patch('acme', connectionId, { attributes: [{ ...D, claim: 'division' }] }, ACTOR)
      .catch((e) => t.comment(String(e)))
    t.ok(n < 50)
  },
)

t.test('a connection with few people is there whole, or not at all', async (t) => {
  const { store, vault, ada } = await start(t)
  const whole = createConnections({ store, vault })
  const { connectionId } = await whole.create('acme', WISHED, ACTOR)
  await store.change(async ({ queries }) => {
    await queries.insert(schema.connectionIdentities).values({
      connectionId,
      issuer: ISSUER,
      subject: 's',
      tenantId: 'acme',
      userId: ada.userId,
      createdAt: 1,
    })
    await queries.update(schema.connections).set({ state: 'active', testedAt: 1 })
  })
  let n = 0
  const change: Store['change'] = async (work) => {
    if (n++ === 1) throw new Error('cut')
    return store.change(work)
  }
  await createConnections({ store: { ...store, change }, vault })
    .remove('acme', connectionId, ACTOR)
    .catch((e) => t.comment(String(e)))
  const ids = await store.read.select().from(schema.connectionIdentities)
  const now = await whole.get('acme', connectionId).catch(() => undefined)
  t.ok(now === undefined || now.state === 'draft' || ids.length === 1)
})

t.test('a sign-out waits for none of the lines that come with it', async (t) => {
  const { store, sessions, clock } = await start(t)
  const events = [
    ...Array.from({ length: 999 }, (_, at) => ({ outcome: 'expired' as const, path: `/${at}` })),
    { outcome: 'logout' as const, sid: 'of-ada', issued_at: Math.floor(clock.nowMs() / 1000) },
  ]
  let n = 0
  const change: Store['change'] = async (work) => {
    if (n++ === 20) throw new Error('cut')
    return store.change(work)
  }
  await createEnforcement({ store: { ...store, change }, clock })
    .take('acme', 'one', events as never)
    .catch((e) => t.comment(String(e)))
  const s = await sessions.find('acme', 'of-ada')
  t.ok(s?.endReason, 'ended ahead of the lines')
})
