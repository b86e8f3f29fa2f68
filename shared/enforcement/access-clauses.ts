/**
 * One clause of an access rule, made of what it asks: does it hold for whoever asks? Unknown is neither
 * true nor false, and `holds` and `mayHold` say what becomes of that.
 */
import { attributeText, type AllowClause, type GroupSlot } from '../fleet/access-rules.ts'
import { isAddress, networkList } from '../networks.ts'
import type { TokenClaims } from './token.ts'

/** What is known of who asks. */
export interface AccessFacts {
  readonly clientAddress: string
  readonly nowSeconds: number
  readonly authTime: number
  readonly isStrong: boolean
  /** The token's bitset of groups and attributes, and the version of the table that it was made by. */
  readonly groupBits: Uint8Array | undefined
  readonly groupsVersion: number
  /** Of a machine: which service it is, which is all that is known of it beside its network. */
  readonly serviceId?: string | undefined
}

export type GroupClaims = Pick<TokenClaims, 'groupBits' | 'groupsVersion'>

/** What if it were so? Tells whether another proof, or a newer token, could help. */
export const ASSUME_NOTHING = 0
export const ASSUME_STRENGTH = 1
export const ASSUME_GROUPS = 2

/** true, false, or undefined where nobody knows. */
type Condition = (facts: AccessFacts, assumed: number) => boolean | undefined
export interface Clause {
  readonly conditions: readonly Condition[]
  readonly source: AllowClause
}

/** A clause that names a service is for machines, any other for people. */
const isMeantFor = ({ source }: Clause, facts: AccessFacts) =>
  (source.service === undefined) === (facts.serviceId === undefined)

export function holds(clause: Clause, facts: AccessFacts, assumed: number): boolean {
  if (!isMeantFor(clause, facts)) return false
  const { conditions } = clause
  for (const condition of conditions) if (condition(facts, assumed) !== true) return false
  return true
}

export function mayHold(clause: Clause, facts: AccessFacts, assumed: number): boolean {
  if (!isMeantFor(clause, facts)) return false
  const { conditions } = clause
  for (const condition of conditions) if (condition(facts, assumed) === false) return false
  // a newer token could say that it does not
  return (assumed & ASSUME_GROUPS) === 0 || !conditions.some((condition) => GROUPED.has(condition))
}

/** Whether an address is in it; undefined for what is none. */
type Network = (address: string) => boolean | undefined

/** A bit of tokens, and from which version of their table on. */
export type Slot = Pick<GroupSlot, 'slot' | 'since'>

export interface KnownNames {
  readonly networks: ReadonlyMap<string, Network>
  /** Of groups by their name, of attributes by `attributeText`. */
  readonly slots: ReadonlyMap<string, Slot>
}

/** Clauses name the same few networks over and over, and to look one up takes as long as ten other conditions. */
export function compileNetwork(entries: readonly string[]): Network {
  const has = networkList(entries)
  let asked = ''
  let answer: boolean | undefined
  return (address) => {
    if (address !== asked) {
      answer = isAddress(address) ? has(address) : undefined
      asked = address
    }
    return answer
  }
}

/** Conditions that hang on what a token says of its person. */
const GROUPED = new WeakSet<Condition>()

export function compileClause(source: AllowClause, known: KnownNames): Clause {
  const { group, not_group, attr, network, not_network, strength, max_age, service } = source
  const conditions: Condition[] = []
  if (service !== undefined) {
    conditions.push(({ serviceId }) => serviceId === service)
    if (network !== undefined) conditions.push(inNetwork(network, true, known))
    if (not_network !== undefined) conditions.push(inNetwork(not_network, false, known))
    // a machine has no group, no attribute, no factor and no sign-in: what asks for one does not hold
    const isOfPeople = [group, not_group, attr, strength, max_age].some((one) => one !== undefined)
    if (isOfPeople) conditions.push(() => false)
    return { conditions, source }
  }
  if (group !== undefined) conditions.push(hasBit(group, true, known))
  if (not_group !== undefined) conditions.push(hasBit(not_group, false, known))
  for (const [name, value] of Object.entries(attr ?? {}))
    conditions.push(hasBit(attributeText(name, value), true, known))
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

function hasBit(name: string, wanted: boolean, { slots }: KnownNames): Condition {
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
  return ({ clientAddress }) => {
    const is = has(clientAddress)
    return is === undefined ? undefined : is === wanted
  }
}

/** Unknown where the token is older than this bit's place in it, or its bitset ends before. */
export function isMember(
  { slot, since }: Slot,
  { groupBits, groupsVersion = 0 }: GroupClaims,
): boolean | undefined {
  if (groupBits === undefined || groupsVersion < since) return undefined
  const byte = groupBits[slot >> 3]
  return byte === undefined ? undefined : (byte & (1 << (slot & 7))) !== 0
}
