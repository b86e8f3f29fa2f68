/** What a SAML connection has given people while it had other settings, or was there. */
import t from 'tap'
import { syncGroups } from '../../../../../control-plane/realm/connections/sync-groups.ts'
import { insertMembers } from '../../../../../control-plane/store/queries/access.ts'
import { schema } from '../../../../../control-plane/store/schema.ts'
import { ACTOR } from '../../realm-world.ts'
import { identitiesOf } from '../connected.ts'
import { activeSaml, answerTo, away, comeBack, GRACE, startSaml } from './connected-by-saml.ts'
import type { Person } from './saml-peer.ts'

type Came = Awaited<ReturnType<typeof startSaml>>

async function come({ world, tenant, key, connection }: Came, person: Person) {
  const one = await away(world, tenant, connection)
  return { ...one, back: await comeBack(world, one, answerTo(one.sent, key, person)) }
}

t.test('what identifies people stays once it has, or a value could be two people', async (t) => {
  const came = await startSaml(t)
  const { world, connection } = came
  const { connectionId } = connection
  const patch = (subjectAttribute: string | null) =>
    world.samlConnections.patch('acme', connectionId, { subjectAttribute }, ACTOR)
  t.match(await patch('badge'), { subjectAttribute: 'badge', state: 'draft' }, 'nobody has come in')
  await patch(null)
  const { updatedAt } = await world.connections.get('acme', connectionId)
  await world.connections.noteTested('acme', connectionId, updatedAt, ACTOR)
  await world.connections.activate('acme', connectionId, ACTOR)

  const first = await come(came, { ...GRACE, nameId: '42' })
  t.match(await first.claims(first.back.url), { email: 'grace@company.example' })
  t.match(await identitiesOf(world), [{ subject: '42' }])
  // somebody else's badge may have that number
  await t.rejects(patch('badge'), {
    code: 'field_invalid',
    detail: /"subject_attribute" is in use/,
  })
  t.match(await world.samlConnections.get('acme', connectionId), {
    subjectAttribute: null,
    state: 'active',
  })
  await world.samlConnections.patch('acme', connectionId, { subjectAttribute: null }, ACTOR)
})

t.test('nobody stays in a group by a connection that maps it no more', async (t) => {
  const groups = [
    { value: 'Finance Team', group: 'finance' },
    { value: 'Ops', group: 'ops' },
  ]
  const came = await startSaml(t, {}, { groupsAttribute: 'groups', groups })
  const { world, connection, key } = came
  const { connectionId } = connection
  for (const name of ['finance', 'ops']) await world.groups.create('acme', { name }, ACTOR)
  const attributes = { ...GRACE.attributes, groups: ['Finance Team', 'Ops'] }
  const { back, claims } = await come(came, { ...GRACE, attributes })
  const { sub: userId } = await claims(back.url)
  const local = { tenantId: 'acme', group: 'ops', userId, source: 'local' } as const
  await world.groups.add(local, ACTOR)
  const held = async () => {
    const rows = await world.store.read.select().from(schema.groupMembers)
    return rows.map(({ group, source }) => `${group} (${source})`).sort()
  }
  const all = ['finance (connection)', 'ops (connection)', 'ops (local)']
  t.same(await held(), all)
  await world.samlConnections.patch('acme', connectionId, { name: 'Another' }, ACTOR)
  t.same(await held(), all, 'another change takes nothing')

  const other = await activeSaml(world, 'acme', [key.certificate], {
    groupsAttribute: 'groups',
    groups: groups.slice(1),
  })
  await world.samlConnections.patch('acme', connectionId, { groups: [] }, ACTOR)
  t.same(await held(), all.slice(1), 'another connection still maps one of them')
  await world.connections.remove('acme', other.connectionId, ACTOR)
  t.same(await held(), ['ops (local)'], 'what was given here stays')
  const audit = await world.store.read.select().from(schema.audit)
  const removed = audit.filter(({ action }) => action === 'group.member_removed')
  t.same(
    removed.map(({ content }) => content),
    [
      { group: 'finance', source: 'connection', user_id: userId },
      { group: 'ops', source: 'connection', user_id: userId },
    ],
  )
})

t.test('groups that are read in another attribute are nobody’s by a word of before', async (t) => {
  const groups = [{ value: 'Ops', group: 'ops' }]
  const came = await startSaml(t, {}, { groupsAttribute: 'groups', groups })
  const { world, connection } = came
  const { connectionId } = connection
  await world.groups.create('acme', { name: 'ops' }, ACTOR)
  const attributes = { ...GRACE.attributes, groups: ['Ops'] }
  const { back, claims } = await come(came, { ...GRACE, attributes })
  await claims(back.url)
  const held = async () =>
    (await world.store.read.select().from(schema.groupMembers)).map(({ group }) => group)
  t.same(await held(), ['ops'])
  const patch = { groupsAttribute: 'roles', attributes: connection.attributes }
  const now = await world.samlConnections.patch('acme', connectionId, patch, ACTOR)
  t.match(now, { groupsAttribute: 'roles', groups }, 'and mapped anew')
  t.same(await held(), [], 'a provider that says nothing of roles would leave them for good')
  const next = await come(came, { ...GRACE, attributes: { ...attributes, roles: ['Ops'] } })
  await next.claims(next.back.url)
  t.same(await held(), ['ops'], 'back with the next sign-in')
})

t.test(
  'who signs in while a connection is changed or removed is put back into no group',
  async (t) => {
    const groups = [{ value: 'Ops', group: 'ops' }]
    const came = await startSaml(t, {}, { groupsAttribute: 'groups', groups })
    const { world, connection } = came
    const { connectionId } = connection
    await world.groups.create('acme', { name: 'ops' }, ACTOR)
    const attributes = { ...GRACE.attributes, groups: ['Ops'] }
    const { back, claims } = await come(came, { ...GRACE, attributes })
    const { sub: userId } = await claims(back.url)
    const whose = { tenantId: 'acme', userId }
    const said = { isIn: ['ops'], isNotIn: [] }
    const held = async () =>
      (await world.store.read.select().from(schema.groupMembers)).map(({ group }) => group)
    t.same(await held(), ['ops'])
    const before = await world.connections.get('acme', connectionId)
    await world.samlConnections.patch('acme', connectionId, { groups: [] }, ACTOR)
    t.same(await held(), [])
    await syncGroups(world, before, whose, said, 'request')
    t.same(await held(), [], 'nobody would take them out')
    const changed = await world.connections.get('acme', connectionId)
    await syncGroups(world, changed, whose, said, 'request')
    t.same(await held(), ['ops'])
    await world.connections.remove('acme', connectionId, ACTOR)
    t.same(await held(), [])
    await syncGroups(world, changed, whose, said, 'request')
    t.same(await held(), [], 'nor by one that is gone')
  },
)

t.test('what a process left that ended meanwhile is taken with the next change', async (t) => {
  const { world, connection } = await startSaml(t)
  await world.groups.create('acme', { name: 'ops' }, ACTOR)
  const row = (at: number, source: 'connection' | 'scim') => {
    return { tenantId: 'acme', group: 'ops', userId: `usr_${at}`, source, createdAt: 1 }
  }
  const rows = Array.from({ length: 1_200 }, (_, at) => row(at, 'connection'))
  const others = [row(0, 'scim'), row(2_000, 'scim')]
  await world.store.change(({ queries }) => insertMembers(queries, [...rows, ...others]))
  await world.samlConnections.patch('acme', connection.connectionId, { name: 'Another' }, ACTOR)
  const left = await world.store.read.select().from(schema.groupMembers)
  t.same(left, others, 'from everybody, and what another source says stays')
})

t.test('whoever is disconnected is in no group by a connection either', async (t) => {
  const groups = [{ value: 'Ops', group: 'ops' }]
  const came = await startSaml(t, {}, { groupsAttribute: 'groups', groups })
  const { world, connection } = came
  await world.groups.create('acme', { name: 'ops' }, ACTOR)
  await world.groups.create('acme', { name: 'own' }, ACTOR)
  const attributes = { ...GRACE.attributes, groups: ['Ops'] }
  const { back, claims } = await come(came, { ...GRACE, attributes })
  const { sub: userId } = await claims(back.url)
  await world.groups.add({ tenantId: 'acme', group: 'own', userId, source: 'local' }, ACTOR)
  await world.personIdentities.remove('acme', userId, connection.connectionId, ACTOR)
  const rows = await world.store.read.select().from(schema.groupMembers)
  t.match(rows, [{ group: 'own', source: 'local' }])
  t.equal(rows.length, 1)
})

t.test('whoever is disconnected has no attribute by a connection either', async (t) => {
  const attributes = [{ attribute: 'department', claim: 'dept' }]
  const came = await startSaml(t, {}, { attributes })
  const { world, connection } = came
  const rules = [{ path: '/', allow: [{ attr: { department: 'audit' } }] }]
  await world.accessRules.put('acme', { rules }, ACTOR)
  const person = { ...GRACE, attributes: { ...GRACE.attributes, dept: ['audit', 'tax'] } }
  const { back, claims } = await come(came, person)
  const { sub: userId, gb } = await claims(back.url)
  t.equal(gb, 'AQ')
  const own = { name: 'floor', value: '3' }
  await world.personAttributes.put({ tenantId: 'acme', userId }, [own], ACTOR)
  await world.personIdentities.remove('acme', userId, connection.connectionId, ACTOR)
  const left = await world.personAttributes.list('acme', userId)
  t.same(
    left.map(({ name, source }) => [name, source]),
    [['floor', 'local']],
  )
})

t.test('an attribute that is read elsewhere is nobody’s until they come in again', async (t) => {
  const attributes = [{ attribute: 'department', claim: 'dept' }]
  const came = await startSaml(t, {}, { attributes })
  const { world, connection } = came
  const { connectionId } = connection
  const said = { ...GRACE.attributes, dept: ['audit'], division: ['tax'] }
  const first = await come(came, { ...GRACE, attributes: said })
  const { sub: userId } = await first.claims(first.back.url)
  const held = async () =>
    (await world.personAttributes.list('acme', userId)).map(({ value }) => value)
  t.same(await held(), ['audit'])
  const another = [{ attribute: 'department', claim: 'division' }]
  const now = await world.samlConnections.patch(
    'acme',
    connectionId,
    { attributes: another },
    ACTOR,
  )
  t.same(now.attributes, another)
  t.same(await held(), [])
  await come(came, { ...GRACE, attributes: said })
  t.same(await held(), ['tax'])
})
