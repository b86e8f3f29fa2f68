/** Groups and who is in them: a membership has its source, and is lost when the last one takes it back. */
import t from 'tap'
import { insertMembers } from '../../../control-plane/store/queries/access.ts'
import { startApi } from '../../support/api.ts'
import { ACTOR, tenantNamed } from '../../support/control-plane.ts'

async function startGroups(t: Parameters<typeof startApi>[0]) {
  const { services } = await startApi(t)
  const { tenants, users, groups, accessRules, revocations } = services
  await tenants.create(tenantNamed('acme'), ACTOR)
  const person = { username: 'ada', email: 'ada@example.test', name: 'Ada' }
  const { userId } = await users.create(
    'acme',
    { ...person, password: 'a long password 42' },
    ACTOR,
  )
  await groups.create('acme', { name: 'finance' }, ACTOR)
  const of = (source: 'local' | 'scim' | 'connection') =>
    ({ tenantId: 'acme', group: 'finance', userId, source }) as const
  const outdated = async () => (await revocations.revokedState('acme')).claims ?? {}
  const rule = () =>
    accessRules.put('acme', { rules: [{ path: '/reports', allow: [{ group: 'finance' }] }] }, ACTOR)
  return { services, groups, userId, of, outdated, rule }
}

t.test('each source takes back its own, and the last one ends the membership', async (t) => {
  const { groups, of, outdated, rule, userId } = await startGroups(t)
  await groups.add(of('local'), ACTOR)
  t.strictSame(await outdated(), {}, 'no token says anything of a group without a rule')
  await groups.add(of('scim'), ACTOR)
  await rule()
  await groups.take(of('local'), ACTOR)
  t.strictSame(await outdated(), {}, 'still in it by another source')
  t.equal((await groups.members('acme', 'finance', { limit: 10 })).items.length, 1)
  await groups.take(of('connection'), ACTOR)
  t.strictSame(await outdated(), {}, 'nobody takes what is not theirs')
  await groups.take(of('scim'), ACTOR)
  t.strictSame(Object.keys(await outdated()), [userId])
  t.strictSame((await groups.members('acme', 'finance', { limit: 10 })).items, [])
})

t.test('what cannot be is refused, and changes nothing', async (t) => {
  const { groups, of, rule } = await startGroups(t)
  const nobody = { ...of('local'), userId: 'usr_nobody' }
  await t.rejects(groups.add(nobody, ACTOR), { code: 'user_not_found' })
  await t.rejects(groups.add({ ...of('local'), group: 'none' }, ACTOR), { code: 'group_not_found' })
  await t.rejects(groups.add({ ...of('local'), tenantId: 'x' }, ACTOR), {
    code: 'tenant_not_found',
  })
  await t.rejects(groups.create('acme', { name: 'Finance' }, ACTOR), { code: 'group_taken' })
  await rule()
  await t.rejects(groups.remove('acme', 'finance', ACTOR), { code: 'group_used' })
})

/** How often the event loop goes round meanwhile. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let [turns, isOver] = [0, false]
  const next = () => {
    turns++
    if (!isOver) setImmediate(next)
  }
  setImmediate(next)
  await work()
  isOver = true
  return turns
}

t.test('groups with very many members are counted and deleted in turns with others', async (t) => {
  const { services } = await startApi(t)
  const { tenants, groups, store } = services
  await tenants.create(tenantNamed('acme'), ACTOR)
  const names = Array.from({ length: 12 }, (_, at) => `group ${String(at).padStart(2, '0')}`)
  for (const name of names) await groups.create('acme', { name }, ACTOR)
  const membersOf = (group: string, count: number, source: 'scim' | 'local' = 'scim') =>
    Array.from({ length: count }, (_, at) => {
      return { tenantId: 'acme', group, userId: `usr_${at}`, source, createdAt: 1 }
    })
  await store.change(async ({ queries }) => {
    for (const name of names) await insertMembers(queries, membersOf(name, 5))
    await insertMembers(queries, membersOf('group 00', 1200, 'local'))
  })
  let counted: readonly { name: string; members: number }[] = []
  const turns = await turnsDuring(async () => {
    counted = await groups.counted('acme', await groups.list('acme'))
  })
  t.ok(turns >= names.length - 1, `${turns} turns while ${names.length} were counted`)
  t.same(
    counted.map(({ members }) => members),
    names.map((_, at) => (at === 0 ? 1200 : 5)),
    'who is in it by two sources is one',
  )
  let changes = 0
  store.onCommit(() => void changes++)
  await groups.remove('acme', 'group 00', ACTOR)
  t.ok(changes > 4, `${changes} changes, so that others come between them`)
  const left = await groups.counted('acme', await groups.list('acme'))
  t.same(
    left.map(({ name }) => name),
    names.slice(1),
  )
  await t.rejects(groups.members('acme', 'group 00', { limit: 1 }), { code: 'group_not_found' })
  await groups.create('acme', { name: 'group 00' }, ACTOR)
  t.same((await groups.members('acme', 'group 00', { limit: 1 })).items, [])
})
