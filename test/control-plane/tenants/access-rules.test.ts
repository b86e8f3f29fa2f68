/** Which rules can be saved at all. */
import t from 'tap'
import type { AccessRule } from '../../../shared/fleet/access-rules.ts'
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
