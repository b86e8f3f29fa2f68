/** Rules of people and of machines travel apart, and come to the same where they are judged. */
import t from 'tap'
import * as v from 'valibot'
import { rulesApart } from '../../../control-plane/tenants/service-rules.ts'
import { compileAccess } from '../../../shared/enforcement/access-rules.ts'
import { EnforcedRulesSchema } from '../../../shared/fleet/access-rules.ts'
import { EnforcedServicesSchema, withServiceClauses } from '../../../shared/fleet/services.ts'
import { randomCase, rulesOf, seeded, SERVICES } from '../../support/access-rules.ts'

t.test('apart and together again they decide as they were written', async (t) => {
  const random = seeded(3)
  const tally = { open: 0, closed: 0 }
  for (let at = 0; at < 3000; at++) {
    const { rules, asked, who } = randomCase(random)
    const { rules: ofPeople, clauses } = rulesApart(rules)
    t.notMatch(JSON.stringify(ofPeople), /svc_/, `case ${at}`)
    const access = rulesOf(ofPeople)
    const together = withServiceClauses(access, { services: [], clauses })
    const kindOf = (judged: typeof access) => compileAccess(judged, () => false).judge(asked, who)
    const wanted = kindOf(rulesOf(rules)).kind
    tally[wanted === 'allowed' ? 'open' : 'closed']++
    if (kindOf(together!).kind !== wanted) t.fail('another decision', { rules, asked, who })
    // the version before goes by the first part alone
    if (who.serviceId === undefined && kindOf(access).kind !== wanted)
      t.fail('another decision where services are not known', { rules, asked, who })
  }
  t.ok(tally.open > 300 && tally.closed > 300, JSON.stringify(tally))
})

t.test(
  'a rule for machines alone is one that opens to nobody, in the grammar of before',
  async (t) => {
    const [service] = SERVICES
    const rules = [
      { path: '/hooks', allow: [{ service }], deny: [{ network: 'office' }, { service }] },
    ]
    const { rules: ofPeople, clauses } = rulesApart(rules)
    t.same(ofPeople, [
      {
        path: '/hooks',
        allow: [{ group: 'nobody', not_group: 'nobody' }],
        deny: [{ network: 'office' }],
      },
    ])
    t.ok(v.is(EnforcedRulesSchema, rulesOf(ofPeople)))
    t.same(clauses, [{ rule: 0, allow: [{ service }], deny: [{ service }] }])
    t.same(withServiceClauses(rulesOf(ofPeople), { services: [], clauses })?.rules, [
      { path: '/hooks', allow: [{ service }], deny: [{ network: 'office' }, { service }] },
    ])
    const plain = [{ path: '/a', allow: [{ signed_in: true as const }] }]
    t.same(rulesApart(plain), { rules: plain, clauses: [] })
  },
)

t.test('what is not known, or belongs to no rule, is refused', async (t) => {
  const [service] = SERVICES
  const stray = { services: [], clauses: [{ rule: 1, allow: [{ service }] }] }
  t.throws(() => withServiceClauses(rulesOf([]), stray), { message: 'there is no rule 1' })
  t.throws(() => withServiceClauses(undefined, stray), { message: 'there is no rule 1' })
  const later = { services: [], clauses: [{ rule: 0, allow: [{ service, hour: 9 }] }] }
  t.notOk(v.is(EnforcedServicesSchema, later), 'a condition that would be skipped lets more in')
  t.ok(v.is(EnforcedServicesSchema, { services: [], later: true }))
})
