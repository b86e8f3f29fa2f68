/** Groups that a provider pushes, and memberships that are its own beside those of others. */
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { createScimGroups } from '../../../control-plane/scim/groups.ts'
import { insertMembers } from '../../../control-plane/store/queries/access.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { auditOf, GROUP, patching, personNamed, startProvider } from './provider.ts'

const MINUTE_MS = 60_000

async function groupsOf({
  groups,
}: Pick<Awaited<ReturnType<typeof startProvider>>['services'], 'groups'>) {
  return groups.counted('acme', await groups.list('acme'))
}

async function startGroup(...[t]: Parameters<typeof startProvider>) {
  const world = await startProvider(t)
  const people = []
  for (const name of ['ada', 'bob', 'eve']) people.push(await world.push(personNamed(name)))
  const [ada = '', bob = '', eve = ''] = people.toSorted()
  const groupId = await world.pushGroup('finance', [ada])
  const patch = (...operations: object[]) =>
    world.scim('PATCH', `/Groups/${groupId}`, patching(...operations))
  return { ...world, groupId, ada, bob, eve, patch }
}

t.test('a group comes with its members, and rules can speak of it', async (t) => {
  const { scim, groupId, ada, services } = await startGroup(t)
  t.match(await scim('GET', `/Groups/${groupId}`), {
    status: 200,
    body: { schemas: [GROUP], displayName: 'finance', members: [{ value: ada }] },
  })
  const rules = { rules: [{ path: '/reports', allow: [{ group: 'finance' }] }] }
  await services.accessRules.put('acme', rules, ACTOR)
  t.match(await services.groups.members('acme', 'finance', { limit: 9 }), {
    items: [{ userId: ada, source: 'scim' }],
  })
})

t.test('members come and go, and unknown ones are passed over and audited', async (t) => {
  const { patch, membersOf, groupId, ada, bob, services, push } = await startGroup(t)
  const local = await services.users.create(
    'acme',
    { username: 'lo', email: 'lo@acme.example', name: 'Lo', password: '' },
    ACTOR,
  )
  const strangers = ['usr_nobody', local.userId, '__proto__']
  const value = [bob, ...strangers].map((id) => ({ value: id }))
  t.equal((await patch({ op: 'Add', path: 'members', value })).status, 204)
  t.same(await membersOf(groupId), [ada, bob])
  const [skipped] = await auditOf(services, 'group.member_skipped')
  t.match(skipped?.content, { group: 'finance', users: 3, user_ids: strangers })
  await patch({ op: 'Remove', path: 'members', value: [{ value: ada }] })
  t.same(await membersOf(groupId), [bob])
  await patch({ op: 'remove', path: `members[value eq "${bob}"]` })
  t.same(await membersOf(groupId), [])
  const cid = await push(personNamed('cid'))
  await patch({ op: 'add', value: { members: [{ value: ada }, { value: cid }] } })
  await patch({ op: 'replace', path: 'members', value: [{ value: bob }, { value: cid }] })
  t.same(await membersOf(groupId), [bob, cid].toSorted())
  await patch({ op: 'remove', path: 'members' })
  t.same(await membersOf(groupId), [])
})

t.test('what a provider says touches its own memberships alone', async (t) => {
  const { patch, scim, groupId, ada, bob, eve, services } = await startGroup(t)
  const membership = { tenantId: 'acme', group: 'finance', source: 'local' } as const
  for (const userId of [ada, eve]) await services.groups.add({ ...membership, userId }, ACTOR)
  const sources = async () =>
    (await services.groups.members('acme', 'finance', { limit: 20 })).items.map(
      ({ userId, source }) => [userId, source],
    )
  await patch({ op: 'replace', path: 'members', value: [{ value: bob }] })
  t.same(await sources(), [
    [ada, 'local'],
    [bob, 'scim'],
    [eve, 'local'],
  ])
  t.equal((await scim('DELETE', `/Groups/${groupId}`)).status, 204)
  t.same(await sources(), [
    [ada, 'local'],
    [eve, 'local'],
  ])
  t.equal((await scim('GET', `/Groups/${groupId}`)).status, 404)
})

t.test('who loses the last membership of a group that rules name loses its claims', async (t) => {
  const { patch, ada, bob, services } = await startGroup(t)
  await patch({ op: 'add', path: 'members', value: [{ value: bob }] })
  const membership = { tenantId: 'acme', group: 'finance', source: 'local' } as const
  await services.groups.add({ ...membership, userId: ada }, ACTOR)
  const rules = { rules: [{ path: '/reports', allow: [{ group: 'finance' }] }] }
  await services.accessRules.put('acme', rules, ACTOR)
  await patch({ op: 'remove', path: 'members' })
  const { claims = {} } = await services.revocations.revokedState('acme')
  t.same(Object.keys(claims), [bob], 'the other is still in it by an administrator')
})

t.test('rules keep the name that a group came with, whatever it is called later', async (t) => {
  const { patch, scim, groupId, ada, membersOf, services } = await startGroup(t)
  await patch({ op: 'replace', path: 'displayName', value: 'Finance & Controlling' })
  t.match(await scim('GET', `/Groups/${groupId}`), {
    body: { displayName: 'Finance & Controlling' },
  })
  t.match(await groupsOf(services), [{ name: 'finance', members: 1 }])
  const second = await scim('POST', '/Groups', { schemas: [GROUP], displayName: 'finance' })
  t.equal(second.status, 201)
  const names = (await groupsOf(services)).map(({ name }) => name)
  t.same(names, ['finance', 'finance-2'], 'nobody gets into rules by a name that became free')
  t.same(await membersOf(groupId), [ada])
})

t.test(
  'a group of an administrator gets the members of exactly its name beside its own',
  async (t) => {
    const { push, pushGroup, scim, services } = await startProvider(t)
    await services.groups.create('acme', { name: 'Admins' }, ACTOR)
    const ada = await push()
    const alike = await pushGroup('Àdmins', [ada])
    const joined = await pushGroup('admins', [ada])
    t.match(await groupsOf(services), [{ name: 'Admins', members: 1 }, { name: 'Admins-2' }])
    await scim('DELETE', `/Groups/${joined}`)
    await scim('DELETE', `/Groups/${alike}`)
    const left = await groupsOf(services)
    t.match(left, [{ name: 'Admins', members: 0 }], 'what was here before stays')
    t.equal(left.length, 1)
  },
)

t.test(
  'a group that rules name stays when the provider deletes it, without its members',
  async (t) => {
    const { scim, groupId, services } = await startGroup(t)
    const rules = { rules: [{ path: '/reports', allow: [{ group: 'finance' }] }] }
    await services.accessRules.put('acme', rules, ACTOR)
    t.equal((await scim('DELETE', `/Groups/${groupId}`)).status, 204)
    t.match(await groupsOf(services), [{ name: 'finance', members: 0 }])
  },
)

t.test(
  'a group that an administrator deletes is gone at the provider, and comes again',
  async (t) => {
    const { scim, groupId, services, pushGroup } = await startGroup(t)
    await services.groups.remove('acme', 'finance', ACTOR)
    t.equal((await scim('GET', `/Groups/${groupId}`)).status, 404)
    t.not(await pushGroup('finance'), groupId)
  },
)

t.test('names are told apart as people read them, and are spelled plainly for rules', async (t) => {
  const { scim, pushGroup, services } = await startProvider(t)
  for (const name of ['Vertrieb & Ärzte (DE)', '財務', '営業', 'x'.repeat(200)])
    await pushGroup(name)
  const names = (await groupsOf(services)).map(({ name }) => name)
  t.same(names.toSorted(), ['Vertrieb - Arzte -DE', 'group', 'group-2', 'x'.repeat(56)])
  t.match(await scim('POST', '/Groups', { displayName: 'VERTRIEB & ÄRZTE (DE)' }), {
    status: 409,
    body: { scimType: 'uniqueness' },
  })
  t.match(await scim('POST', '/Groups', { members: [] }), { status: 400 })
})

t.test(
  'groups are found by name, own id and member, and listed with or without members',
  async (t) => {
    const { scim, groupId, ada, bob, pushGroup } = await startGroup(t)
    await pushGroup('sales', [bob])
    const total = async (filter: string) =>
      (await scim('GET', `/Groups?filter=${encodeURIComponent(filter)}`)).body['totalResults']
    t.equal(await total('displayName eq "FINANCE"'), 1)
    t.equal(await total(`id eq "${groupId}" and members eq "${ada}"`), 1, 'as Entra asks')
    t.equal(await total(`id eq "${groupId}" and members eq "${bob}"`), 0)
    t.equal(await total(`members[value eq "${bob}"]`), 1)
    t.equal(await total('externalId eq "nothing"'), 0)
    const without = await scim('GET', '/Groups?excludedAttributes=members')
    t.notMatch(JSON.stringify(without.body), ada)
    t.match(await scim('GET', '/Groups'), { body: { totalResults: 2, itemsPerPage: 2 } })
  },
)

t.test('a group has so many members at most', async (t) => {
  const { patch, groupId, scim, bob, services } = await startGroup(t)
  const most = LIMITS.scimMembersPerGroupMax
  const ids = Array.from({ length: most + 1 }, (_, at) => ({ value: `usr_${at}` }))
  const tooMany = { status: 400, body: { scimType: 'tooMany' } }
  t.match(await patch({ op: 'add', path: 'members', value: ids }), tooMany, 'in one request')
  const membership = { tenantId: 'acme', group: 'finance', source: 'scim', createdAt: 0 } as const
  const rows = ids.slice(2).map(({ value }) => ({ ...membership, userId: value }))
  await services.store.change(({ queries }) => insertMembers(queries, rows)) // one is in it already
  t.match(await patch({ op: 'add', path: 'members', value: [{ value: bob }] }), tooMany)
  const { body } = await scim('GET', `/Groups/${groupId}`)
  t.equal((body['members'] as unknown[]).length, most)
})

t.test('50 PATCHes at the same time lose nothing', async (t) => {
  const { scim, pushGroup, membersOf, services, clock } = await startProvider(t)
  const people = await Promise.all(
    Array.from({ length: 50 }, async (_, at) => {
      const token = { token: { ...(await tokenOf()), tokenId: 'sct_1' }, actor: ACTOR }
      const made = await services.scimPeople.create(token, personNamed(`p${at}`))
      return made.person.userId
    }),
  )
  async function tokenOf() {
    const [token] = await services.scimTokens.list('acme')
    return token!
  }
  const groupId = await pushGroup('all')
  clock.advance(MINUTE_MS)
  const add = (id: string) => patching({ op: 'add', path: 'members', value: [{ value: id }] })
  const answers = await Promise.all(
    people.map(async (id) => scim('PATCH', `/Groups/${groupId}`, add(id))),
  )
  t.ok(answers.every(({ status }) => status === 204))
  clock.advance(MINUTE_MS)
  t.same(await membersOf(groupId), people.toSorted())

  clock.advance(MINUTE_MS)
  const [first = ''] = people
  const said = ['name.givenName', 'name.familyName', 'title', 'displayName', 'externalId']
  const paths = Array.from({ length: LIMITS.rateScim.burst }, (_, at) => said[at % said.length])
  await Promise.all(
    paths.map(async (path) =>
      scim('PATCH', `/Users/${first}`, patching({ op: 'replace', path, value: `${path}!` })),
    ),
  )
  clock.advance(MINUTE_MS)
  t.match((await scim('GET', `/Users/${first}`)).body, {
    name: { givenName: 'name.givenName!', familyName: 'name.familyName!' },
    ...{ title: 'title!', displayName: 'displayName!', externalId: 'externalId!' },
  })
})

t.test('memberships come and go so many at a time, and no more', async (t) => {
  const { services, clock, groupId, ada, bob, eve } = await startGroup(t)
  const rate = { burst: 4, perSecond: 1 }
  const scimGroups = createScimGroups({ store: services.store, clock, rate })
  const set = (...members: string[]) => {
    const resource = { displayName: 'finance', members: members.map((value) => ({ value })) }
    return scimGroups.replace('acme', groupId, resource, ACTOR)
  }
  const { group } = await set(ada, bob, eve)
  await set(ada, bob, eve)
  await set(bob, eve)
  await t.rejects(set(), { code: 'rate_limited', fields: { retry_after: 1 } })
  t.same((await scimGroups.membersOf(group)).toSorted(), [bob, eve], 'and nothing is half done')
  await t.rejects(scimGroups.remove('acme', groupId, ACTOR), { code: 'rate_limited' })
  clock.advance(1000)
  await set()
  t.same(await scimGroups.membersOf(group), [])
})
