/**
 * May this person open this path? Pure. Denies add up from above; of allows those of the most specific
 * path count, and whom a path above refuses stays out unless the rule says `widen`. Unknown is false
 * in an allow and true in a deny.
 */
import {
  attributeText,
  type AccessRule,
  type AllowClause,
  type EnforcedRules,
} from '../fleet/access-rules.ts'
import { LIMITS } from '../limits.ts'
import {
  ASSUME_GROUPS,
  ASSUME_NOTHING,
  ASSUME_STRENGTH,
  compileClause,
  compileNetwork,
  holds,
  isMember,
  mayHold,
  type AccessFacts,
  type Clause,
  type GroupClaims,
  type KnownNames,
  type Slot,
} from './access-clauses.ts'
import { compilePlaces, type PlaceFinder, type Places } from './access-places.ts'
import { normalPrefix } from './path.ts'

export interface AccessAsked {
  readonly host: string
  readonly method: string
  readonly path: string
}

/** As the realm says it (control-plane/policy/verdict.ts). */
const SECOND_FACTOR = 'aal2'
export const isStrong = ({ acr }: { readonly acr: string }): boolean => acr === SECOND_FACTOR

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
      /** Clauses that would have opened it, each a way in: as many as one rule can have. */
      readonly ways: readonly AllowClause[]
    }

/** Which rules have decided, by their place in the list. */
export interface Explanation {
  /**
   * unruled: no rule speaks of it. opened: by these, from the most specific up. denied: by the deny of
   * this one. closed: what any of these would ask for is not there.
   */
  readonly kind: 'unruled' | 'unreadable' | 'opened' | 'denied' | 'closed'
  readonly rules: readonly number[]
}

export interface AccessJudge {
  /** Undefined: no rule speaks of it, or only ones outside of what is open without a sign-in. */
  isRuled(asked: AccessAsked, isExcluded: boolean): boolean
  judge(asked: AccessAsked, facts: AccessFacts): AccessVerdict
  /** Why `judge` answers as it does; for people who write rules, and for no request. */
  explain(asked: AccessAsked, facts: AccessFacts): Explanation
  /** The first second from `seconds` on in which a proof of then is older than some rule takes; Infinity: none. */
  outgrownAt(authTime: number, seconds: number): number
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
  /** Its place in the list. */
  readonly at: number
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

/** Throws for rules that cannot be enforced as they are written. */
export function compileAccess(
  { rules, networks = {}, slots, attribute_slots: ofAttributes = [] }: EnforcedRules,
  isExcluded: (path: string) => boolean,
): AccessJudge {
  const known: KnownNames = {
    networks: new Map(Object.entries(networks).map(([name, list]) => [name, compileNetwork(list)])),
    slots: new Map<string, Slot>([
      ...slots.map((slot) => [slot.group, slot] as const),
      ...ofAttributes.map((slot) => [attributeText(slot.attribute, slot.value), slot] as const),
    ]),
  }
  const hosts = new Set(rules.flatMap(({ host }) => host ?? []))
  // once, and not for each host: there may be a hundred of them
  const listed = rules.map((rule, at): ListedRule => {
    const path = normalPath(rule.path)
    const isInExcluded = isExcluded(path === '' ? '/' : path)
    return { host: rule.host, path, isInExcluded, compiled: compileRule(rule, at, known) }
  })
  const finderFor = (host: string | undefined) =>
    placesOf(listed.filter((one) => one.host === undefined || one.host === host))
  const everywhere = finderFor(undefined)
  const byHost = new Map<string, PlaceFinder<Place>>()
  // when somebody comes there: all at once they would be one long stall
  const placesFor = (host: string) =>
    hosts.has(host) ? byHost.getOrInsertComputed(host, finderFor) : everywhere
  const find = ({ host, path }: AccessAsked) => (byHost.get(host) ?? placesFor(host))(path)
  const ages = agesIn(rules)

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
      const asking = askingOf(found)
      const isOpen = (assumed: number) => {
        const walked = walkedBy(asking)
        return asking.every((place) => opens(place, asked.method, facts, assumed, walked))
      }
      if (isOpen(ASSUME_NOTHING)) return ALLOWED
      const isStrengthMissing = isOpen(ASSUME_STRENGTH)
      const ways = waysInto(asking, asked.method, facts)
      const ages = ways.flatMap(({ max_age: age }) => age ?? [])
      return {
        kind: 'denied',
        isStrengthMissing,
        isGroupMissing: !isStrengthMissing && isOpen(ASSUME_STRENGTH | ASSUME_GROUPS),
        maxAge: ages.length === 0 ? undefined : Math.min(...ages),
        ways: ways.slice(0, LIMITS.ruleWaysToldMax),
      }
    },
    explain(asked, facts) {
      const found = find(asked)
      if (found === 'unreadable') return { kind: 'unreadable', rules: [] }
      const asking = askingOf(found)
      if (found.place === undefined && facts.serviceId !== undefined)
        return { kind: 'closed', rules: [] }
      if (asking.length === 0) return { kind: 'unruled', rules: [] }
      const walked = walkedBy(asking)
      const opening = new Set<number>()
      for (const place of asking) {
        const explained = explainPlace(place, asked.method, facts, walked)
        if (explained.kind !== 'opened') return explained
        for (const at of explained.rules) opening.add(at)
      }
      return { kind: 'opened', rules: [...opening] }
    },
    outgrownAt(authTime, seconds) {
      let [low, high] = [0, ages.length]
      while (low < high) {
        const middle = (low + high) >> 1
        if (authTime + ages[middle]! < seconds - 1) low = middle + 1
        else high = middle
      }
      return low === ages.length ? Infinity : authTime + ages[low]! + 1
    },
    groupsOf: (claims) =>
      slots.filter((slot) => isMember(slot, claims) === true).map(({ group }) => group),
  }
}

/** How old a proof may be at most, by whichever rule, the shortest first: there may be thousands. */
function agesIn(rules: readonly AccessRule[]): readonly number[] {
  const ages = rules.flatMap(({ allow }) => allow.flatMap(({ max_age: age }) => age ?? []))
  return [...new Set(ages)].sort((a, b) => a - b)
}

const askingOf = ({ place, others }: Places<Place>): readonly Place[] =>
  place === undefined ? [...others] : others.size === 0 ? [place] : [place, ...others]

/**
 * Places that were walked for one answer, and let it through: those that one path may stand for have what is above
 * them in common, with all of its clauses. The first that does not ends the answer, so nothing else is kept.
 */
interface Walked {
  readonly undenied: Set<Place>
  readonly opened: Map<Place, readonly number[]>
}

const walkedBy = ({ length }: readonly Place[]): Walked | undefined =>
  length > 1 ? { undenied: new Set(), opened: new Map() } : undefined

function opens(
  place: Place,
  method: string,
  facts: AccessFacts,
  assumed: number,
  walked: Walked | undefined,
): boolean {
  return (
    denierOf(place, method, facts, assumed, walked) === undefined &&
    allows(place, method, facts, assumed, walked)
  )
}

/** The rule that keeps them out, from the most specific path up. */
function denierOf(
  place: Place,
  method: string,
  facts: AccessFacts,
  assumed: number,
  walked: Walked | undefined,
): CompiledRule | undefined {
  for (let at: Place | undefined = place; at !== undefined; at = at.above) {
    if (walked?.undenied.has(at)) return undefined
    for (const rule of at.rules)
      if (isOf(rule, method) && rule.deny.some((clause) => mayHold(clause, facts, assumed)))
        return rule
    walked?.undenied.add(at)
  }
  return undefined
}

/** What is above is asked once, however many rules open it here: they would multiply from path to path. */
function allows(
  place: Place,
  method: string,
  facts: AccessFacts,
  assumed: number,
  walked: Walked | undefined,
): boolean {
  for (let at: Place | undefined = place; at !== undefined; at = at.above) {
    if (walked?.opened.has(at)) return true
    let isOpenHere = false
    for (const rule of at.rules) {
      if (isOpenHere && !rule.isWidening) continue
      if (!isOf(rule, method)) continue
      if (!rule.allow.some((clause) => holds(clause, facts, assumed))) continue
      isOpenHere = true
      if (rule.isWidening || at.above === undefined) {
        walked?.opened.set(at, NO_RULES)
        return true
      }
    }
    if (!isOpenHere) return false
    walked?.opened.set(at, NO_RULES)
  }
  return false
}

const NO_RULES: readonly number[] = []

/** As `opens`, with names. */
function explainPlace(
  place: Place,
  method: string,
  facts: AccessFacts,
  walked: Walked | undefined,
): Explanation {
  const denier = denierOf(place, method, facts, ASSUME_NOTHING, walked)
  if (denier !== undefined) return { kind: 'denied', rules: [denier.at] }
  const opening = openersOf(place, method, facts, walked)
  return opening === undefined
    ? { kind: 'closed', rules: closersOf(place, method, facts).map(({ at }) => at) }
    : { kind: 'opened', rules: opening }
}

/** As `allows`: the first rule here that opens it, and what is above asked once. */
function openersOf(
  place: Place,
  method: string,
  facts: AccessFacts,
  walked: Walked | undefined,
): readonly number[] | undefined {
  const known = walked?.opened.get(place)
  if (known !== undefined) return known
  const opening = place.rules.filter(
    (rule) =>
      isOf(rule, method) && rule.allow.some((clause) => holds(clause, facts, ASSUME_NOTHING)),
  )
  if (opening.length === 0) return undefined
  const above = place.above && openersOf(place.above, method, facts, walked)
  const isLast = (rule: CompiledRule) => rule.isWidening || place.above === undefined
  const first = opening.find((rule) => isLast(rule) || above !== undefined)
  if (first === undefined) return undefined
  const openers = [first.at, ...(isLast(first) ? [] : (above ?? []))]
  walked?.opened.set(place, openers)
  return openers
}

/** Where none of the rules there holds: from the most specific path up. */
function closersOf(place: Place, method: string, facts: AccessFacts): readonly CompiledRule[] {
  for (let at: Place | undefined = place; at !== undefined; at = at.above) {
    const ofMethod = at.rules.filter((rule) => isOf(rule, method))
    const isAllowing = ({ allow }: CompiledRule) =>
      allow.some((clause) => holds(clause, facts, ASSUME_NOTHING))
    if (!ofMethod.some(isAllowing)) return ofMethod.length === 0 ? at.rules : ofMethod
  }
  return place.rules
}

/** Clauses that do not hold, where one of them would have to: from the most specific path up, each path once. */
function waysInto(
  asking: readonly Place[],
  method: string,
  facts: AccessFacts,
): readonly AllowClause[] {
  const walked = new Set<Place>()
  return asking.flatMap((place) => {
    for (let at: Place | undefined = place; at !== undefined; at = at.above) {
      if (walked.has(at)) return []
      walked.add(at)
      const clauses = at.rules.filter((rule) => isOf(rule, method)).flatMap((rule) => rule.allow)
      if (!clauses.some((clause) => holds(clause, facts, ASSUME_NOTHING)))
        return clauses.map(({ source }) => source).filter(({ service }) => service === undefined)
    }
    return []
  })
}

/** HEAD shows less than GET does. */
const isOf = ({ methods }: CompiledRule, method: string) =>
  methods === undefined || methods.has(method) || (method === 'HEAD' && methods.has('GET'))

interface ListedRule {
  readonly host: string | undefined
  readonly path: string
  readonly isInExcluded: boolean
  readonly compiled: CompiledRule
}

function placesOf(rules: readonly ListedRule[]): PlaceFinder<Place> {
  const byPath = Map.groupBy(rules, ({ path }) => path.toLowerCase())
  const placed = [...byPath.values()].map((there) => {
    const [{ path, isInExcluded }] = there as [ListedRule, ...ListedRule[]]
    const compiled = there.map((one) => one.compiled)
    const content: Place = { rules: compiled, isInExcluded, above: undefined }
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

function compileRule(rule: AccessRule, at: number, known: KnownNames): CompiledRule {
  return {
    at,
    methods: rule.methods && new Set(rule.methods),
    isWidening: rule.widen === true,
    allow: rule.allow.map((clause) => compileClause(clause, known)),
    deny: (rule.deny ?? []).map((clause) => compileClause(clause, known)),
  }
}
