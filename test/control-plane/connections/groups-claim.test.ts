/** Groups that a provider names in a claim, as far as its connection maps them. */
import t from 'tap'
import { createConnections } from '../../../control-plane/connections/connections.ts'
import { gate } from '../../../control-plane/connections/gate.ts'
import { insertMembers } from '../../../control-plane/store/queries/access.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import type { Store } from '../../../control-plane/store/store.ts'
import { ACTOR, startServices, tenantNamed } from '../../support/control-plane.ts'

const GROUPS = [
  { value: 'Finance Team', group: 'finance' },
  { value: 'Ops', group: 'ops' },
  { value: 'Operations', group: 'ops' },
]
const WISHED = {
  ...{ preset: 'oidc' as const, name: 'Company', issuer: 'https://idp.example.com' },
  ...{ clientId: 'us', clientSecret: 'secret', hostedDomain: null, createsPeople: true },
  ...{ mfaValues: [], groupsClaim: 'groups', groups: GROUPS },
}

t.test('only what is mapped, and only by the claim that is named', async (t) => {
  const groupsOf = (claims: object, groupsClaim: string | null = 'groups') => {
    const gated = gate({ ...WISHED, groupsClaim }, { sub: 'grace', ...claims })
    if (gated.kind !== 'person') throw new Error(gated.problem)
    return gated.person.groups
  }
  const ops = { isIn: ['ops'], isNotIn: ['finance'] }
  t.same(groupsOf({ groups: ['Operations', 'Others'] }), ops)
  t.same(groupsOf({ groups: 'Ops' }), ops, 'one by itself')
  t.same(groupsOf({ groups: [] }), { isIn: [], isNotIn: ['finance', 'ops'] }, 'in none any more')
  t.same(groupsOf({ groups: ['ops', 'OPS', 7, null, {}] })?.isIn, [], 'as the provider writes it')
  for (const unknown of [{}, { groups: null }, { groups: {} }, { groups: 7 }, { roles: ['Ops'] }])
    t.equal(groupsOf(unknown), undefined, JSON.stringify(unknown))
  const tooMany = { _claim_names: { groups: 'src1' }, hasgroups: true }
  t.equal(groupsOf(tooMany), undefined, 'as Entra says that there are too many')
  t.equal(groupsOf({}, '__proto__'), undefined)
  t.equal(groupsOf({ groups: ['Ops'], mapped_groups: ops }, null), undefined, 'SAML’s alone')
})

async function start(t: Parameters<typeof startServices>[0]) {
  const services = await startServices(t)
  const { store, tenants, connections, groups } = services
  await tenants.create(tenantNamed('acme'), ACTOR)
  for (const name of ['finance', 'ops']) await groups.create('acme', { name }, ACTOR)
  const { connectionId } = await connections.create('acme', WISHED, ACTOR)
  const row = (group: string, source: 'connection' | 'local') => {
    return { tenantId: 'acme', group, userId: 'usr_1', source, createdAt: 1 }
  }
  await store.change(({ queries }) =>
    insertMembers(queries, [
      row('finance', 'connection'),
      row('ops', 'connection'),
      row('ops', 'local'),
    ]),
  )
  const left = async () =>
    (await store.read.select().from(schema.groupMembers))
      .map(({ group, source }) => `${group} ${source}`)
      .toSorted()
  const patch = (wished: Parameters<typeof connections.patch>[2]) =>
    connections.patch('acme', connectionId, wished, ACTOR)
  return { ...services, connectionId, left, patch }
}
const ALL = ['finance connection', 'ops connection', 'ops local']

t.test('another claim, or issuer: memberships of before go, and are mapped anew', async (t) => {
  for (const wished of [{ groupsClaim: 'roles' }, { issuer: 'https://other.example.com' }]) {
    const { left, patch } = await start(t)
    t.same(await left(), ALL)
    t.match(await patch(wished), { ...wished, groups: GROUPS })
    t.same(await left(), ['ops local'])
  }
})

t.test('a group that is mapped no more is taken, and other settings take nothing', async (t) => {
  const { left, patch } = await start(t)
  await patch({ name: 'Other' })
  t.same(await left(), ALL)
  await patch({ groups: GROUPS.slice(0, 1) })
  t.same(await left(), ['finance connection', 'ops local'])
  await patch({ groupsClaim: null, groups: [] })
  t.same(await left(), ['ops local'])
})

t.test('who was interrupted finds them unmapped, and nobody in them', async (t) => {
  const { store, vault, connections, connectionId, left } = await start(t)
  let changes = 0
  const change: Store['change'] = (work) => {
    if (++changes > 1) throw new Error('the process ends here')
    return store.change(work)
  }
  const cut = createConnections({ store: { ...store, change }, vault })
  const wished = { groupsClaim: 'roles' }
  await t.rejects(cut.patch('acme', connectionId, wished, ACTOR), /process ends/)
  t.match(await connections.get('acme', connectionId), { ...wished, groups: [] })
  t.same(await left(), ALL, 'nobody was taken out so far')
  await connections.patch('acme', connectionId, { groups: GROUPS }, ACTOR)
  t.match(await connections.get('acme', connectionId), { ...wished, groups: GROUPS })
  t.same(await left(), ['ops local'])
})

t.test('groups are mapped only where a claim names them, and not for GitHub', async (t) => {
  const { connections, patch } = await start(t)
  const refused = { code: 'field_invalid', fields: { field: 'groups_claim' } }
  await t.rejects(patch({ groupsClaim: null }), refused)
  const github = { ...WISHED, preset: 'github' as const, issuer: 'https://github.com' }
  const wished = { ...github, organization: 'acme', groups: [] }
  await t.rejects(connections.create('acme', wished, ACTOR), refused)
})
