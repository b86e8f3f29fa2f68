/**
 * Does a machine meet what the device policy demands of it? Pure, and asked in three places: while
 * somebody signs in, when a machine reports, and about sign-ins that have been.
 */
import { DAY_MS, HOUR_MS } from '../../shared/clock.ts'
import { DEVICE_FACTS, type DeviceFact, type Fact } from '../../shared/device/facts.ts'
import type { DevicePlatform, KeyStorage } from '../../shared/device/facts.ts'
import type { DeviceState } from '../../shared/device/messages.ts'
import type { Demanded, Demands } from './demanded.ts'
import type { DevicePolicy } from './policies.ts'

/** What is known of a machine with our agent, as plain data. All times in epoch milliseconds. */
export interface JudgedDevice {
  readonly deviceId: string
  /** Whose it is; null: nobody's yet. */
  readonly userId: string | null
  readonly state: DeviceState
  readonly platform: DevicePlatform
  readonly keyStorage: KeyStorage
  readonly agent: string
  readonly enrolledAt: number
  /** When what it says of itself was collected. */
  readonly collectedAt: number | null
  /** null: it has not said anything of itself. */
  readonly posture: JudgedPosture | null
  /** Since when each fact is what it is. */
  readonly factsSince: Readonly<Partial<Record<DeviceFact, number>>>
  /** Of those that are not true: since when, be it false or unknown. */
  readonly unmetSince?: Readonly<Partial<Record<DeviceFact, number>>>
}

interface JudgedPosture {
  readonly facts: Readonly<Record<DeviceFact, Fact>>
  readonly os: { readonly id: string; readonly version: string }
}

/** As it is recorded with a sign-in: nothing is judged by what is only meant for people. */
export function withoutDetails(device: JudgedDevice): JudgedDevice {
  if (device.posture === null) return device
  const { facts, os } = device.posture
  const bare = DEVICE_FACTS.map((name) => {
    const { value, reason } = facts[name]
    return [name, { value, reason }]
  })
  return { ...device, posture: { facts: Object.fromEntries(bare) as typeof facts, os } }
}

export type DeviceDemand =
  | DeviceFact
  | 'state'
  | 'owner'
  | 'approved'
  | 'key_storage'
  | 'os'
  | 'agent'
  | 'fresh'

export interface Failing {
  readonly what: DeviceDemand
  /** Of a fact, the one that the machine gave. */
  readonly reason: string
  /** For people, beside the reason. Never trusted, always escaped. */
  readonly detail?: string
  /** Where that is known; in epoch milliseconds. */
  readonly since?: number
}

export interface Compliance {
  readonly complies: boolean
  readonly failing: readonly Failing[]
  /** Where it fails: from when on days of grace are counted; 0: there are none for it. */
  readonly unmetSinceMs?: number
  /** All that fails may still be mended until then, and the machine is let through. */
  readonly graceUntil?: number
}

interface ComplianceAsked {
  /** Who signs in; null: nobody does, so that whose the machine is does not matter. */
  readonly userId: string | null
  readonly nowMs: number
  /** What was demanded since when, oldest first: grace begins no earlier. */
  readonly demanded?: readonly Demanded[]
}

/** How a machine was enrolled is nothing that its owner could mend in time. */
const WITHOUT_GRACE: readonly DeviceDemand[] = ['state', 'owner', 'approved', 'key_storage']

export function compliance(
  device: JudgedDevice,
  policy: DevicePolicy,
  { userId, nowMs, demanded = [] }: ComplianceAsked,
): Compliance {
  const failing = [...ofEnrolment(device, policy, userId), ...ofDemands(device, policy, nowMs)]
  if (failing.length === 0) return { complies: true, failing }
  const begun = failing.map((one) =>
    WITHOUT_GRACE.includes(one.what) ? 0 : unmetSince(device, one, demanded, nowMs),
  )
  const unmetSinceMs = Math.min(...begun)
  const graceUntil = unmetSinceMs + policy.grace_days * DAY_MS
  const isLetThrough = policy.grace_days > 0 && graceUntil > nowMs
  return { complies: false, failing, unmetSinceMs, ...(isLetThrough && { graceUntil }) }
}

const ofDemands = (device: JudgedDevice, demands: Demands, nowMs: number): Failing[] => [
  ...ofFacts(device, demands),
  ...ofVersions(device, demands),
  ...ofFreshness(device, demands, nowMs),
]

/** Since when the machine fails at this and was asked for it without a gap. */
function unmetSince(
  device: JudgedDevice,
  { what, since = device.enrolledAt }: Failing,
  demanded: readonly Demanded[],
  nowMs: number,
): number {
  let [begun, until] = [since, nowMs]
  for (const one of demanded.toReversed()) {
    const then = ofDemands(device, one, nowMs).find((failing) => failing.what === what)
    const { since: failedSince = device.enrolledAt } = then ?? {}
    if (then === undefined || failedSince >= until) break
    begun = Math.max(failedSince, one.since)
    if (failedSince > one.since) break
    until = one.since
  }
  return begun
}

function ofEnrolment(
  { state, userId: owner, keyStorage }: JudgedDevice,
  policy: DevicePolicy,
  userId: string | null,
): Failing[] {
  const failing: Failing[] = []
  if (state !== 'approved' && state !== 'pending') failing.push({ what: 'state', reason: state })
  if (state === 'pending' && policy.approved)
    failing.push({ what: 'approved', reason: 'approval_pending' })
  if (policy.owner === 'own' && userId !== null && owner !== userId)
    failing.push({ what: 'owner', reason: owner === null ? 'owner_unknown' : 'owned_by_another' })
  if (policy.key_storage === 'tpm' && keyStorage !== 'tpm')
    failing.push({ what: 'key_storage', reason: 'key_in_file' })
  return failing
}

/** In the order of the facts, however the administrator wrote them. */
function ofFacts(device: JudgedDevice, policy: Demands) {
  const { posture, factsSince, enrolledAt } = device
  // where unknown fails as well, a fact that turns from one into the other fails as before
  const unmetSince = policy.unknown === 'fail' ? device.unmetSince : undefined
  return DEVICE_FACTS.filter((what) => policy.facts.includes(what)).flatMap((what): Failing[] => {
    const fact = posture?.facts[what] ?? { value: 'unknown', reason: 'not_reported' }
    if (fact.value === true) return []
    if (fact.value === 'unknown' && policy.unknown === 'pass') return []
    const { reason, detail } = fact
    const since = unmetSince?.[what] ?? factsSince[what] ?? enrolledAt
    return [{ what, reason, ...(detail !== undefined && { detail }), since }]
  })
}

/** An operating system that the policy does not name may have any version. */
function ofVersions({ posture, agent }: JudgedDevice, policy: Demands): Failing[] {
  const failing: Failing[] = []
  const { id = '', version = '' } = posture?.os ?? {}
  const least = Object.hasOwn(policy.min_os, id) ? policy.min_os[id] : undefined
  const isAsked = Object.keys(policy.min_os).length > 0
  if (isAsked && posture === null && policy.unknown === 'fail')
    failing.push({ what: 'os', reason: 'not_reported' })
  if (least !== undefined) {
    const order = compareVersions(version, least)
    if (order === undefined && policy.unknown === 'fail')
      failing.push({ what: 'os', reason: 'os_version_unknown', detail: least })
    if (order !== undefined && order < 0)
      failing.push({ what: 'os', reason: 'os_too_old', detail: least })
  }
  if (policy.min_agent !== null && !((compareVersions(agent, policy.min_agent) ?? -1) >= 0))
    failing.push({ what: 'agent', reason: 'agent_too_old', detail: policy.min_agent })
  return failing
}

function ofFreshness(
  { posture, collectedAt, enrolledAt }: JudgedDevice,
  { fresh_hours: hours }: Demands,
  nowMs: number,
): Failing[] {
  if (hours === null) return []
  if (posture === null || collectedAt === null)
    return [{ what: 'fresh', reason: 'not_reported', since: enrolledAt }]
  const staleAt = collectedAt + hours * HOUR_MS
  return nowMs < staleAt ? [] : [{ what: 'fresh', reason: 'facts_too_old', since: staleAt }]
}

/** `24.04`, `10.0.26100.4061`: numbers and points. Anything else compares with nothing. */
const VERSION = /^\d{1,9}(?:\.\d{1,9}){0,7}$/

export const isVersion = (text: string) => VERSION.test(text)

/** Below, equal or above zero, as `a` is older than, the same as or newer than `b`. */
export function compareVersions(a: string, b: string): number | undefined {
  if (!isVersion(a) || !isVersion(b)) return undefined
  const [left, right] = [a.split('.').map(Number), b.split('.').map(Number)]
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
