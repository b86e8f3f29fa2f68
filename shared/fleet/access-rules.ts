/**
 * Who may open which paths, as it is written down and as it travels. Strict: a condition that is
 * not known here is refused and never skipped, since without it a clause would let more people in.
 */
import * as v from 'valibot'
import { HOSTNAME } from '../hosts.ts'
import { LIMITS } from '../limits.ts'
import { hasUnseen } from '../unseen.ts'

export const SERVICE_ID = /^svc_[0-9a-f]{16}$/
export const GROUP_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9 ._-]{0,62}[A-Za-z0-9._-])?$/
/** Letters that all who name one write alike; none of them is in `__proto__`. */
export const ATTRIBUTE_NAME = new RegExp(
  `^[a-z][a-z0-9_]{0,${LIMITS.attributeNameCharactersMax - 1}}$`,
)
const SERVICE_WISH = 'the id of a service, like svc_0123456789abcdef'
const GROUP_WISH = 'the name of a group'
export const ATTRIBUTE_NAME_WISH =
  'the name of an attribute, like department: lower-case letters, digits and underscores'
export const ATTRIBUTE_VALUE_WISH = `text of 1 to ${LIMITS.attributeValueCharactersMax} characters, without blanks around it and without control or invisible characters`
const ATTR_WISH = `an object of 1 to ${LIMITS.ruleAttributesMax} attributes, each with the value it must have, like {"department": "audit"}`
const NETWORK_WISH = 'the name of a network: lower-case letters, digits, dashes and underscores'
const METHOD_WISH = 'a method like GET'
const ENTRY_WISH = 'an address or a network like 192.0.2.0/24'
const PATH_WISH = `a path like /reports of at most ${LIMITS.pathPrefixBytesMax} characters`
const HOST_WISH = 'a hostname of the tenant'
const AGE_WISH = `a whole number of seconds from ${LIMITS.ruleAgeSecondsMin} to ${LIMITS.ruleAgeSecondsMax}`
const CLAUSES_WISH = `a list of at most ${LIMITS.ruleClausesMax} clauses`
const ALLOW_WISH = `a list of 1 to ${LIMITS.ruleClausesMax} clauses`
const METHODS_WISH = `a list of 1 to ${LIMITS.ruleMethodsMax} methods`
const NETWORKS_WISH = `at most ${LIMITS.ruleNetworksMax} networks by name`
const ENTRIES_WISH = `a list of at most ${LIMITS.ruleNetworkEntriesMax} networks`
const RULES_WISH = `a list of at most ${LIMITS.rulesPerTenantMax} rules`
const RULE_WISH = 'an object with path and allow'
const CLAUSE_WISH = 'an object of conditions'
const NETWORK_NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/

const groupName = v.pipe(v.string(GROUP_WISH), v.regex(GROUP_NAME, GROUP_WISH))
const attributeName = v.pipe(
  v.string(ATTRIBUTE_NAME_WISH),
  v.regex(ATTRIBUTE_NAME, ATTRIBUTE_NAME_WISH),
)
const attributeValue = v.pipe(
  v.string(ATTRIBUTE_VALUE_WISH),
  v.check(isAttributeValue, ATTRIBUTE_VALUE_WISH),
)
/** Not `v.record`: it drops some keys in silence, and a condition that is dropped lets more people in. */
const attributes = v.custom<Readonly<Record<string, string>>>(isAttributes, ATTR_WISH)
const networkName = v.pipe(v.string(NETWORK_WISH), v.regex(NETWORK_NAME, NETWORK_WISH))
const method = v.pipe(v.string(METHOD_WISH), v.regex(/^[A-Z-]{1,20}$/, METHOD_WISH))
const networkText = v.pipe(v.string(ENTRY_WISH), v.maxLength(50, ENTRY_WISH))

const NOTHING_ASKED = 'a clause with at least one condition'
const SERVICE_ALONE =
  'beside service nothing but network or not_network: a machine has nothing else'

/** What an allow or deny clause may ask; all of it has to be true. */
const facts = {
  /** Anybody who is signed in. */
  signed_in: v.optional(v.literal(true, 'true')),
  group: v.optional(groupName),
  not_group: v.optional(groupName),
  /** What a person is: each of these attributes has this value, or this among others. */
  attr: v.optional(attributes),
  network: v.optional(networkName),
  not_network: v.optional(networkName),
  /** A machine, by the service that it is. People never match such a clause, nor machines another. */
  service: v.optional(v.pipe(v.string(SERVICE_WISH), v.regex(SERVICE_ID, SERVICE_WISH))),
}

const OF_MACHINES: readonly string[] = ['service', 'network', 'not_network']
const isOfOneKind = (clause: object) =>
  !Object.hasOwn(clause, 'service') ||
  Object.keys(clause).every((name) => OF_MACHINES.includes(name))

const AllowFactsSchema = v.strictObject(
  {
    ...facts,
    /** A second factor was shown. */
    strength: v.optional(v.literal('mfa', 'mfa')),
    /** So many seconds ago at most the person proved who they are. */
    max_age: v.optional(
      v.pipe(
        v.number(AGE_WISH),
        v.safeInteger(AGE_WISH),
        v.minValue(LIMITS.ruleAgeSecondsMin, AGE_WISH),
        v.maxValue(LIMITS.ruleAgeSecondsMax, AGE_WISH),
      ),
    ),
  },
  CLAUSE_WISH,
)
export type AllowClause = v.InferOutput<typeof AllowFactsSchema>
export const AllowClauseSchema = v.pipe(
  AllowFactsSchema,
  v.check((clause) => Object.keys(clause).length > 0, NOTHING_ASKED),
  v.check((clause) => isOfOneKind(clause), SERVICE_ALONE),
)

/** A refusal for strength would be one for being too well signed in. */
const DenyFactsSchema = v.strictObject(facts, CLAUSE_WISH)
export const DenyClauseSchema = v.pipe(
  DenyFactsSchema,
  v.check((clause) => Object.keys(clause).length > 0, NOTHING_ASKED),
  v.check((clause) => isOfOneKind(clause), SERVICE_ALONE),
)

export const clauses = <Clause extends v.GenericSchema>(
  clause: Clause,
  least: number,
  wish: string,
) =>
  v.pipe(v.array(clause, wish), v.minLength(least, wish), v.maxLength(LIMITS.ruleClausesMax, wish))

export const AccessRuleSchema = v.strictObject(
  {
    /** Left out: every hostname of the tenant. */
    host: v.optional(v.pipe(v.string(HOST_WISH), v.regex(HOSTNAME, HOST_WISH))),
    path: v.pipe(
      v.string(PATH_WISH),
      v.startsWith('/', PATH_WISH),
      v.maxLength(LIMITS.pathPrefixBytesMax, PATH_WISH),
    ),
    methods: v.optional(
      v.pipe(
        v.array(method, METHODS_WISH),
        v.minLength(1, METHODS_WISH),
        v.maxLength(LIMITS.ruleMethodsMax, METHODS_WISH),
      ),
    ),
    /** Opens this path to people whom a rule above it would refuse. */
    widen: v.optional(v.boolean('true or false')),
    /** Never empty: what has a rule is closed, and a rule that opens it to nobody says so by `deny`. */
    allow: clauses(AllowClauseSchema, 1, ALLOW_WISH),
    deny: v.optional(clauses(DenyClauseSchema, 0, CLAUSES_WISH)),
  },
  RULE_WISH,
)
export type AccessRule = v.InferOutput<typeof AccessRuleSchema>

const rulesAndNetworks = {
  networks: v.optional(
    v.pipe(
      v.record(
        networkName,
        v.pipe(
          v.array(networkText, ENTRIES_WISH),
          v.maxLength(LIMITS.ruleNetworkEntriesMax, ENTRIES_WISH),
        ),
        NETWORKS_WISH,
      ),
      v.check((all) => Object.keys(all).length <= LIMITS.ruleNetworksMax, NETWORKS_WISH),
    ),
  ),
  rules: v.pipe(
    v.array(AccessRuleSchema, RULES_WISH),
    v.maxLength(LIMITS.rulesPerTenantMax, RULES_WISH),
  ),
}

const CONTACT_WISH = `an email address, or an https:// address, of at most ${LIMITS.accessContactCharactersMax} characters`
const CONTACT = /^(?:https:\/\/[!-~]+|[A-Za-z0-9._+-]+@[A-Za-z0-9.-]+\.[A-Za-z0-9-]+)$/
export const ContactSchema = v.pipe(
  v.string(CONTACT_WISH),
  v.maxLength(LIMITS.accessContactCharactersMax, CONTACT_WISH),
  v.regex(CONTACT, CONTACT_WISH),
)

/** What an administrator writes. */
export const AccessRulesSchema = v.strictObject({
  ...rulesAndNetworks,
  /** Whom to ask for access; told to whoever is refused. */
  contact: v.optional(ContactSchema),
})
export type AccessRules = v.InferOutput<typeof AccessRulesSchema>

/** A group's place in the tokens' bitset, and from which version of the table on it stands there. */
const GroupSlotSchema = v.strictObject({
  slot: v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(LIMITS.ruleSlotsMax - 1)),
  since: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  group: groupName,
})
export type GroupSlot = v.InferOutput<typeof GroupSlotSchema>

/** An attribute that rules ask for, with the value, has a bit as a group has. */
const AttributeSlotSchema = v.strictObject({
  slot: GroupSlotSchema.entries.slot,
  since: GroupSlotSchema.entries.since,
  attribute: attributeName,
  value: attributeValue,
})
export type AttributeSlot = v.InferOutput<typeof AttributeSlotSchema>

/** As one text: no group's name has a `=` in it, and no attribute's. */
export const attributeText = (name: string, value: string): string => `${name}=${value}`

export function isAttributeValue(value: string): boolean {
  const isShort = value.length <= LIMITS.attributeValueCharactersMax
  return (
    isShort && value !== '' && value.trim() === value && value.isWellFormed() && !hasUnseen(value)
  )
}

function isAttributes(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const all: readonly (readonly [string, unknown])[] = Object.entries(value)
  return (
    all.length >= 1 &&
    all.length <= LIMITS.ruleAttributesMax &&
    all.every(
      ([name, wish]) =>
        ATTRIBUTE_NAME.test(name) && typeof wish === 'string' && isAttributeValue(wish),
    )
  )
}

/** What gateways are told. */
export const EnforcedRulesSchema = v.strictObject({
  ...rulesAndNetworks,
  slots: v.pipe(v.array(GroupSlotSchema), v.maxLength(LIMITS.ruleSlotsMax)),
  /** Left out where no rule asks for an attribute. */
  attribute_slots: v.optional(
    v.pipe(v.array(AttributeSlotSchema), v.maxLength(LIMITS.ruleSlotsMax)),
  ),
})
export type EnforcedRules = v.InferOutput<typeof EnforcedRulesSchema>
