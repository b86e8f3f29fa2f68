/** Which rules can be saved at all. */
import t from 'tap'
import * as v from 'valibot'
import { applyEdit, type RuleEdit } from '../../../control-plane/tenants/rule-edits.ts'
import type { AccessRule, AccessRules } from '../../../shared/fleet/access-rules.ts'
import { TenantSnapshotSchema } from '../../../shared/fleet/snapshot.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR, startServices, tenantNamed } from '../../support/control-plane.ts'

t.test('rules of every hostname are counted for each that others name', async (t) => {
  const { tenants, accessRules } = await startServices(t)
  const hostnames = Array.from({ length: 50 }, (_, at) => `h${at}.example.test`)
  await tenants.create({ ...tenantNamed('acme'), hostnames }, ACTOR)
  const allow = [{ signed_in: true as const }]
  const ofEach = hostnames.map((host): AccessRule => ({ host, path: '/own', allow }))
  const ofAll = (count: number) =>
    Array.from({ length: count }, (_, at): AccessRule => ({ path: `/p${at}`, allow }))
  const most = Math.floor((LIMITS.rulePlacesMax - ofEach.length) / (ofEach.length + 1))
  const rules = [...ofEach, ...ofAll(most)]
  t.same((await accessRules.put('acme', { rules }, ACTOR)).rules.length, rules.length)
  await t.rejects(accessRules.put('acme', { rules: [...ofEach, ...ofAll(most + 1)] }, ACTOR), {
    code: 'field_invalid',
    detail: /each of the 50 hostnames/,
  })
  await accessRules.put('acme', { rules: ofAll(LIMITS.rulesPerTenantMax) }, ACTOR)
})

t.test('what no gateway would take is not saved, whatever it was made of', async (t) => {
  const services = await startServices(t)
  const { tenants, accessRules, fleetSource } = services
  await tenants.create(tenantNamed('acme'), ACTOR)
  await tenants.publish('acme', ACTOR)
  const rule = (path: string): AccessRule => ({ path, allow: [{ signed_in: true }] })
  const many = Array.from({ length: LIMITS.rulesPerTenantMax }, (_, at) => rule(`/p${at}`))
  const network = ['192.0.2.0/24']
  const numbered = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, network]))
  const refused: readonly [string, AccessRules, RuleEdit, RegExp][] = [
    ['a rule more', { rules: many }, { kind: 'put', rule: rule('/more') }, /at most 2000 rules/],
    [
      'a network more',
      { rules: [rule('/a')], networks: numbered(LIMITS.ruleNetworksMax) },
      { kind: 'network', name: 'more', entries: network },
      /at most 50 networks/,
    ],
    ['a name', { rules: [] }, { kind: 'network', name: 'No Name', entries: network }, /lower-case/],
    [
      'its entries',
      { rules: [] },
      { kind: 'network', name: 'n', entries: Array.from({ length: 201 }, () => '192.0.2.1') },
      /at most 200 networks/,
    ],
  ]
  for (const [what, before, edit, detail] of refused) {
    await accessRules.put('acme', before, ACTOR)
    const next = applyEdit(before, edit)
    const wish = { code: 'field_invalid', detail }
    await t.rejects(accessRules.put('acme', next, ACTOR, before), wish, what)
    await t.rejects(accessRules.check('acme', next), wish, `${what}, before it is saved`)
    const { snapshot } = (await fleetSource.snapshot('acme'))!
    t.ok(v.safeParse(TenantSnapshotSchema, snapshot).success, `${what}: gateways take the rest`)
  }
  const named = { kind: 'network', name: 'constructor', entries: network } as const
  const content = { rules: [{ path: '/a', allow: [{ network: 'constructor' }] }] }
  const wish = { code: 'field_invalid', detail: /constructor is not/ }
  await t.rejects(accessRules.put('acme', applyEdit(content, named), ACTOR), wish)
})

t.test('rules never make a tenant so large that gateways are not told of it', async (t) => {
  const { tenants, accessRules, fleetSource } = await startServices(t)
  await tenants.create(tenantNamed('acme'), ACTOR)
  await tenants.publish('acme', ACTOR)
  const clause = { not_network: 'n'.repeat(60) }
  const large = (at: number): AccessRule => ({
    path: `/p${at}`,
    allow: [{ signed_in: true }],
    deny: Array.from({ length: LIMITS.ruleClausesMax }, () => clause),
  })
  const networks = { [clause.not_network]: ['192.0.2.0/24'] }
  const rules = Array.from({ length: 300 }, (_, at) => large(at))
  const wish = { code: 'field_invalid', detail: /bytes/ }
  await t.rejects(accessRules.put('acme', { networks, rules }, ACTOR), wish)
  await accessRules.put('acme', { networks, rules: rules.slice(0, 40) }, ACTOR)
  t.ok((await fleetSource.snapshot('acme'))?.snapshot?.access)
  await tenants.suspend('acme', ACTOR)
  const suspended = (await fleetSource.snapshot('acme'))?.snapshot
  t.equal(suspended?.status, 'suspended')
  t.equal(suspended?.access, undefined, 'whatever rules it has, that is told')
})
