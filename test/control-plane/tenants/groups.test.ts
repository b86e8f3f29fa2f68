/** Groups and who is in them: a membership has its source, and is lost when the last one takes it back. */
import t from 'tap'
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
