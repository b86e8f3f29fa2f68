/** Rules taken apart for those who are told of them: of people, and the clauses that name a service. */
import type { AccessRule, AllowClause } from '../../shared/fleet/access-rules.ts'
import { NOBODY, type ServiceClauses } from '../../shared/fleet/services.ts'

const isOfPeople = ({ service }: AllowClause) => service === undefined
const isOfMachines = ({ service }: AllowClause) => service !== undefined

interface RulesApart {
  /** In the grammar of before there were services. */
  readonly rules: AccessRule[]
  readonly clauses: ServiceClauses[]
}

export function rulesApart(rules: readonly AccessRule[]): RulesApart {
  const clauses = rules.flatMap((rule, at): ServiceClauses[] => {
    const allow = rule.allow.filter(isOfMachines)
    const deny = (rule.deny ?? []).filter(isOfMachines)
    if (allow.length === 0 && deny.length === 0) return []
    return [{ rule: at, ...(allow.length > 0 && { allow }), ...(deny.length > 0 && { deny }) }]
  })
  if (clauses.length === 0) return { rules: [...rules], clauses }
  const ofPeople = rules.map((rule): AccessRule => {
    const allow = rule.allow.filter(isOfPeople)
    const deny = rule.deny?.filter(isOfPeople)
    return { ...rule, allow: allow.length === 0 ? [NOBODY] : allow, ...(deny && { deny }) }
  })
  return { rules: ofPeople, clauses }
}

export function servicesIn(rules: readonly AccessRule[]): ReadonlySet<string> {
  return new Set(
    rules.flatMap(({ allow, deny = [] }) =>
      [...allow, ...deny].flatMap(({ service }) => service ?? []),
    ),
  )
}
