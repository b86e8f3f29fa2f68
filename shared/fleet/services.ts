/**
 * Machines of a tenant, as gateways and middlewares are told of them. The clauses of rules that name a
 * service travel apart from the rules: the version before knows no such condition, and would refuse
 * the whole snapshot. It goes by the rest, under which nobody comes in who would not else.
 */
import * as v from 'valibot'
import { LIMITS } from '../limits.ts'
import {
  AllowClauseSchema,
  clauses,
  DenyClauseSchema,
  SERVICE_ID,
  type AllowClause,
  type EnforcedRules,
} from './access-rules.ts'

const wholeNumber = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

const ServiceSchema = v.object({
  service_id: v.pipe(v.string(), v.regex(SERVICE_ID)),
  is_disabled: v.optional(v.boolean()),
  /** A token of the tenant's key that names it to the application; nothing comes in with it. */
  identity: v.pipe(v.string(), v.maxLength(LIMITS.sessionTokenBytesMax)),
  secrets: v.pipe(
    v.array(
      v.object({
        secret_id: v.pipe(v.string(), v.minLength(1), v.maxLength(100)),
        /** SHA-256, in base64url. */
        hash: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{43}$/)),
        /** In epoch seconds; from then on it is refused. */
        ends_at: wholeNumber,
      }),
    ),
    v.maxLength(LIMITS.serviceSecretsMax),
  ),
})

/** Of the rule in that place of the list. Strict, as the rules are. */
const ServiceClausesSchema = v.strictObject({
  rule: v.pipe(wholeNumber, v.maxValue(LIMITS.rulesPerTenantMax - 1)),
  allow: v.optional(clauses(AllowClauseSchema, 0, 'clauses')),
  deny: v.optional(clauses(DenyClauseSchema, 0, 'clauses')),
})
export type ServiceClauses = v.InferOutput<typeof ServiceClausesSchema>

export const EnforcedServicesSchema = v.object({
  services: v.pipe(v.array(ServiceSchema), v.maxLength(LIMITS.servicesPerTenantMax)),
  clauses: v.optional(v.pipe(v.array(ServiceClausesSchema), v.maxLength(LIMITS.rulesPerTenantMax))),
})
export type EnforcedServices = v.InferOutput<typeof EnforcedServicesSchema>

/** Holds for nobody, in the grammar of before there were services: a rule must allow something. */
export const NOBODY: AllowClause = { group: 'nobody', not_group: 'nobody' }
const isNobody = (clause: AllowClause) =>
  clause.group === NOBODY.group && clause.not_group === NOBODY.not_group

/** The rules with all of their clauses. Throws for clauses of a rule that is not there. */
export function withServiceClauses(
  access: EnforcedRules | undefined,
  services: EnforcedServices | undefined,
): EnforcedRules | undefined {
  const apart = services?.clauses ?? []
  if (apart.length === 0) return access
  const rules = [...(access?.rules ?? [])]
  for (const { rule: at, allow = [], deny = [] } of apart) {
    const rule = rules[at]
    if (access === undefined || rule === undefined) throw new Error(`there is no rule ${at}`)
    rules[at] = {
      ...rule,
      allow: [...rule.allow.filter((clause) => !isNobody(clause)), ...allow],
      ...((rule.deny !== undefined || deny.length > 0) && {
        deny: [...(rule.deny ?? []), ...deny],
      }),
    }
  }
  return access && { ...access, rules }
}
