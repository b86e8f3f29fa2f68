/**
 * Who may open which paths, as it is written down and as it travels. Strict: a condition that is
 * not known here is refused and never skipped, since without it a clause would let more people in.
 */
import * as v from 'valibot'
import { HOSTNAME } from '../hosts.ts'
import { LIMITS } from '../limits.ts'

export const GROUP_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9 ._-]{0,62}[A-Za-z0-9._-])?$/
const NETWORK_NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/

const groupName = v.pipe(v.string(), v.regex(GROUP_NAME))
const networkName = v.pipe(v.string(), v.regex(NETWORK_NAME))
const method = v.pipe(v.string(), v.regex(/^[A-Z]{1,20}$/))
const networkText = v.pipe(v.string(), v.maxLength(50))

const asksSomething = (clause: object) => Object.keys(clause).length > 0
const NOTHING_ASKED = 'a clause with at least one condition'

/** What an allow or deny clause may ask; all of it has to be true. */
const facts = {
  /** Anybody who is signed in. */
  signed_in: v.optional(v.literal(true)),
  group: v.optional(groupName),
  not_group: v.optional(groupName),
  network: v.optional(networkName),
  not_network: v.optional(networkName),
}

const AllowFactsSchema = v.strictObject({
  ...facts,
  /** A second factor was shown. */
  strength: v.optional(v.literal('mfa')),
  /** So many seconds ago at most the person proved who they are. */
  max_age: v.optional(
    v.pipe(
      v.number(),
      v.safeInteger(),
      v.minValue(LIMITS.ruleAgeSecondsMin),
      v.maxValue(LIMITS.ruleAgeSecondsMax),
    ),
  ),
})
export type AllowClause = v.InferOutput<typeof AllowFactsSchema>
const AllowClauseSchema = v.pipe(AllowFactsSchema, v.check(asksSomething, NOTHING_ASKED))

/** A refusal for strength would be one for being too well signed in. */
const DenyFactsSchema = v.strictObject(facts)
const DenyClauseSchema = v.pipe(DenyFactsSchema, v.check(asksSomething, NOTHING_ASKED))

const clauses = <Clause extends v.GenericSchema>(clause: Clause, least: number) =>
  v.pipe(v.array(clause), v.minLength(least), v.maxLength(LIMITS.ruleClausesMax))

export const AccessRuleSchema = v.strictObject({
  /** Left out: every hostname of the tenant. */
  host: v.optional(v.pipe(v.string(), v.regex(HOSTNAME))),
  path: v.pipe(v.string(), v.startsWith('/'), v.maxLength(LIMITS.pathPrefixBytesMax)),
  methods: v.optional(v.pipe(v.array(method), v.minLength(1), v.maxLength(LIMITS.ruleMethodsMax))),
  /** Opens this path to people whom a rule above it would refuse. */
  widen: v.optional(v.boolean()),
  /** Never empty: what has a rule is closed, and a rule that opens it to nobody says so by `deny`. */
  allow: clauses(AllowClauseSchema, 1),
  deny: v.optional(clauses(DenyClauseSchema, 0)),
})
export type AccessRule = v.InferOutput<typeof AccessRuleSchema>

/** What an administrator writes. */
export const AccessRulesSchema = v.strictObject({
  networks: v.optional(
    v.pipe(
      v.record(
        networkName,
        v.pipe(v.array(networkText), v.maxLength(LIMITS.ruleNetworkEntriesMax)),
      ),
      v.maxEntries(LIMITS.ruleNetworksMax),
    ),
  ),
  rules: v.pipe(v.array(AccessRuleSchema), v.maxLength(LIMITS.rulesPerTenantMax)),
})
export type AccessRules = v.InferOutput<typeof AccessRulesSchema>

/** A group's place in the tokens' bitset, and from which version of the table on it stands there. */
const GroupSlotSchema = v.strictObject({
  slot: v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(LIMITS.ruleSlotsMax - 1)),
  since: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  group: groupName,
})
export type GroupSlot = v.InferOutput<typeof GroupSlotSchema>

/** What gateways are told. */
export const EnforcedRulesSchema = v.strictObject({
  ...AccessRulesSchema.entries,
  slots: v.pipe(v.array(GroupSlotSchema), v.maxLength(LIMITS.ruleSlotsMax)),
})
export type EnforcedRules = v.InferOutput<typeof EnforcedRulesSchema>
