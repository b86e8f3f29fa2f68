/**
 * May this person open this path? Pure. Denies add up from above; of allows those of the most specific
 * path count, and whom a path above refuses stays out unless the rule says `widen`. Unknown is false
 * in an allow and true in a deny.
 */
import type { AccessRule, AllowClause, EnforcedRules, GroupSlot } from '../fleet/access-rules.ts'
import { isAddress, networkList, type NetworkList } from '../networks.ts'
import { compilePlaces, type PlaceFinder } from './access-places.ts'
import { normalPrefix } from './path.ts'
import type { TokenClaims } from './token.ts'

/** What is known of who asks. */
export interface AccessFacts {
  readonly clientAddress: string
  readonly nowSeconds: number
  readonly authTime: number
  readonly isStrong: boolean
  /** The token's bitset of groups, and the version of the table that it was made by. */
  readonly groupBits: Uint8Array | undefined
  readonly groupsVersion: number
  /** Of a machine: which service it is, which is all that is known of it beside its network. */
  readonly serviceId?: string | undefined
}

type GroupClaims = Pick<TokenClaims, 'groupBits' | 'groupsVersion'>

export interface AccessAsked {
  readonly host: string
  readonly method: string
  readonly path: string
}

/** As the realm says it (control-plane/policy/verdict.ts). */
const SECOND_FACTOR = 'aal2'
export const isStrong = ({ acr }: { readonly acr: string }): boolean => acr === SECOND_FACTOR

/** What if it were so? Tells whether another proof, or a newer token, could help. */
const ASSUME_NOTHING = 0
const ASSUME_STRENGTH = 1
const ASSUME_GROUPS = 2

export type AccessVerdict =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'unreadable' }
  | {
      readonly kind: 'denied'
      /** A fresh proof of who it is, with a second factor, would open it. */
      readonly isStrengthMissing: boolean
      /** A newer token might. */
      readonly isGroupMissing: boolean
      /** In how many seconds at most such a proof may lie back, where a rule asks for that. */
      readonly maxAge: number | undefined
      /** The clauses that would have opened it, each a way in. */
      readonly ways: readonly AllowClause[]
    }

export interface AccessJudge {
  /** Undefined: no rule speaks of it, or only ones outside of what is open without a sign-in. */
  isRuled(asked: AccessAsked, isExcluded: boolean): boolean
  judge(asked: AccessAsked, facts: AccessFacts): AccessVerdict
  /** The names of those groups that rules speak of and that the token says its person is in. */
  groupsOf(claims: GroupClaims): readonly string[]
}

const ALLOWED = { kind: 'allowed' } as const
const UNREADABLE = { kind: 'unreadable' } as const
/** What no rule speaks of is open to people alone. */
const NOWHERE_NAMED: AccessVerdict = {
  kind: 'denied',
  isStrengthMissing: false,
  isGroupMissing: false,
  maxAge: undefined,
  ways: [],
}

interface CompiledRule {
  readonly methods: ReadonlySet<string> | undefined
  readonly isWidening: boolean
  readonly allow: readonly Clause[]
  readonly deny: readonly Clause[]
}

/** One path with its rules, and the next path above that has any. */
interface Place {
  readonly rules: readonly CompiledRule[]
  readonly isInExcluded: boolean
  above: Place | undefined
}

/** true, false, or undefined where nobody knows. */
type Condition = (facts: AccessFacts, assumed: number) => boolean | undefined
interface Clause {
  readonly conditions: readonly Condition[]
  readonly source: AllowClause
}

/** Throws for rules that cannot be enforced as they are written. */
export function compileAccess(
  { rules, networks = {}, slots }: EnforcedRules,
  isExcluded: (path: string) => boolean,
): AccessJudge {
  const known: KnownNames = {
    networks: new Map(Object.entries(networks).map(([name, list]) => [name, networkList(list)])),
    slots: new Map(slots.map((slot) => [slot.group, slot])),
  }
  const hosts = new Set(rules.flatMap(({ host }) => host ?? []))
  const finderFor = (host: string | undefined) =>
    placesOf(
      rules.filter((rule) => rule.host === undefined || rule.host === host),
      known,
      isExcluded,
    )
  const everywhere = finderFor(undefined)
  const byHost = new Map([...hosts].map((host) => [host, finderFor(host)]))
  const find = ({ host, path }: AccessAsked) => (byHost.get(host) ?? everywhere)(path)

  return {
    isRuled(asked, isInExcluded) {
      if (!isInExcluded) return true
      const found = find(asked)
      if (found === 'unreadable') return true
      if (found.place?.isInExcluded === true) return true
      for (const other of found.others) if (other.isInExcluded) return true
      return false
    },
    judge(asked, facts) {
      const found = find(asked)
      if (found === 'unreadable') return UNREADABLE
      // nobody reads a path for a machine in any way but the one that it is written in
      if (found.place === undefined && facts.serviceId !== undefined) return NOWHERE_NAMED
      if (found.place === undefined && found.others.size === 0) return ALLOWED
      const isOpen = (assumed: number) => {
        if (found.place !== undefined && !opens(found.place, asked.method, facts, assumed))
          return false
        for (const other of found.others)
          if (!opens(other, asked.method, facts, assumed)) return false
        return true
      }
      if (isOpen(ASSUME_NOTHING)) return ALLOWED
      const isStrengthMissing = isOpen(ASSUME_STRENGTH)
      const asking = [...(found.place === undefined ? [] : [found.place]), ...found.others]
      const ways = asking.flatMap((place) => waysInto(place, asked.method, facts))
      const ages = ways.flatMap(({ max_age: age }) => age ?? [])
      return {
        kind: 'denied',
        isStrengthMissing,
        isGroupMissing: !isStrengthMissing && isOpen(ASSUME_STRENGTH | ASSUME_GROUPS),
        maxAge: ages.length === 0 ? undefined : Math.min(...ages),
        ways,
      }
    },
    groupsOf: (claims) =>
      slots.filter((slot) => isMember(slot, claims) === true).map(({ group }) => group),
  }
}

function opens(place: Place, method: string, facts: AccessFacts, assumed: number): boolean {
  for (let at: Place | undefined = place; at !== undefined; at = at.above)
    for (const rule of at.rules)
      if (isOf(rule, method) && rule.deny.some((clause) => mayHold(clause, facts, assumed)))
        return false
  return allows(place, method, facts, assumed)
}

function allows(place: Place, method: string, facts: AccessFacts, assumed: number): boolean {
  for (const rule of place.rules) {
    if (!isOf(rule, method)) continue
    if (!rule.allow.some((clause) => holds(clause, facts, assumed))) continue
    if (rule.isWidening || place.above === undefined) return true
    if (allows(place.above, method, facts, assumed)) return true
  }
  return false
}

/** Clauses that do not hold, where one of them would have to: from the most specific path up. */
function waysInto(place: Place, method: string, facts: AccessFacts): readonly AllowClause[] {
  for (let at: Place | undefined = place; at !== undefined; at = at.above) {
    const rules = at.rules.filter((rule) => isOf(rule, method))
    const clauses = rules.flatMap((rule) => rule.allow)
    if (!clauses.some((clause) => holds(clause, facts, ASSUME_NOTHING)))
      return clauses.map(({ source }) => source).filter(({ service }) => service === undefined)
  }
  return []
}

/** HEAD shows less than GET does. */
const isOf = ({ methods }: CompiledRule, method: string) =>
  methods === undefined || methods.has(method) || (method === 'HEAD' && methods.has('GET'))

/** A clause that names a service is for machines, any other for people. */
const isMeantFor = ({ source }: Clause, facts: AccessFacts) =>
  (source.service === undefined) === (facts.serviceId === undefined)

function holds(clause: Clause, facts: AccessFacts, assumed: number): boolean {
  if (!isMeantFor(clause, facts)) return false
  const { conditions } = clause
  for (const condition of conditions) if (condition(facts, assumed) !== true) return false
  return true
}

function mayHold(clause: Clause, facts: AccessFacts, assumed: number): boolean {
  if (!isMeantFor(clause, facts)) return false
  const { conditions } = clause
  for (const condition of conditions) if (condition(facts, assumed) === false) return false
  // a newer token could say that it does not
  return (assumed & ASSUME_GROUPS) === 0 || !conditions.some((condition) => GROUPED.has(condition))
}

interface KnownNames {
  readonly networks: ReadonlyMap<string, NetworkList>
  readonly slots: ReadonlyMap<string, GroupSlot>
}

function placesOf(
  rules: readonly AccessRule[],
  known: KnownNames,
  isExcluded: (path: string) => boolean,
): PlaceFinder<Place> {
  const byPath = Map.groupBy(rules, ({ path }) => normalPath(path).toLowerCase())
  const placed = [...byPath.values()].map((there) => {
    const [{ path: first }] = there as [AccessRule, ...AccessRule[]]
    const path = normalPath(first)
    const content: Place = {
      rules: there.map((rule) => compileRule(rule, known)),
      isInExcluded: isExcluded(path === '' ? '/' : path),
      above: undefined,
    }
    return { path, content }
  })
  const contents = new Map(placed.map(({ path, content }) => [path.toLowerCase(), content]))
  for (const { path, content } of placed) content.above = nextAbove(path.toLowerCase(), contents)
  return compilePlaces(placed)
}

function nextAbove(path: string, places: ReadonlyMap<string, Place>): Place | undefined {
  for (let at = path; at !== '';) {
    at = at.slice(0, at.lastIndexOf('/'))
    const above = places.get(at)
    if (above !== undefined) return above
  }
  return undefined
}

/** `/admin/` → `/admin`, `/` → ''. */
function normalPath(path: string): string {
  const normal = normalPrefix(path)
  if (normal === undefined) throw new Error(`${path} is no plain path`)
  return normal === '/' ? '' : normal
}

function compileRule(rule: AccessRule, known: KnownNames): CompiledRule {
  return {
    methods: rule.methods && new Set(rule.methods),
    isWidening: rule.widen === true,
    allow: rule.allow.map((clause) => compileClause(clause, known)),
    deny: (rule.deny ?? []).map((clause) => compileClause(clause, known)),
  }
}

/** Conditions that hang on what a token says of groups. */
const GROUPED = new WeakSet<Condition>()

function compileClause(source: AllowClause, known: KnownNames): Clause {
  const { group, not_group, network, not_network, strength, max_age, service } = source
  const conditions: Condition[] = []
  if (service !== undefined) {
    conditions.push(({ serviceId }) => serviceId === service)
    if (network !== undefined) conditions.push(inNetwork(network, true, known))
    if (not_network !== undefined) conditions.push(inNetwork(not_network, false, known))
    // a machine has no group, no factor and no sign-in: what asks for one does not hold
    const isOfPeople = [group, not_group, strength, max_age].some((one) => one !== undefined)
    if (isOfPeople) conditions.push(() => false)
    return { conditions, source }
  }
  if (group !== undefined) conditions.push(inGroup(group, true, known))
  if (not_group !== undefined) conditions.push(inGroup(not_group, false, known))
  if (network !== undefined) conditions.push(inNetwork(network, true, known))
  if (not_network !== undefined) conditions.push(inNetwork(not_network, false, known))
  if (strength !== undefined)
    conditions.push(({ isStrong }, assumed) => isStrong || (assumed & ASSUME_STRENGTH) !== 0)
  if (max_age !== undefined)
    conditions.push(
      ({ authTime, nowSeconds }, assumed) =>
        nowSeconds - authTime <= max_age || (assumed & ASSUME_STRENGTH) !== 0,
    )
  return { conditions, source }
}

function inGroup(name: string, wanted: boolean, { slots }: KnownNames): Condition {
  const slot = slots.get(name)
  const condition: Condition = (facts, assumed) => {
    if ((assumed & ASSUME_GROUPS) !== 0) return true
    const is = slot === undefined ? undefined : isMember(slot, facts)
    return is === undefined ? undefined : is === wanted
  }
  GROUPED.add(condition)
  return condition
}

function inNetwork(name: string, wanted: boolean, { networks }: KnownNames): Condition {
  const has = networks.get(name)
  if (has === undefined) throw new Error(`there is no network ${name}`)
  return ({ clientAddress }) =>
    !isAddress(clientAddress) ? undefined : has(clientAddress) === wanted
}

/** Unknown where the token is older than the group's place in it, or its bitset ends before. */
function isMember(
  { slot, since }: GroupSlot,
  { groupBits, groupsVersion = 0 }: GroupClaims,
): boolean | undefined {
  if (groupBits === undefined || groupsVersion < since) return undefined
  const byte = groupBits[slot >> 3]
  return byte === undefined ? undefined : (byte & (1 << (slot & 7))) !== 0
}
