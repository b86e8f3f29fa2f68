/**
 * May this device be used? Only a browser that was proven to run on a machine with our agent says
 * so; without an answer it is refused and never let through. That a new browser needs a second
 * factor is for `mfa` to ask.
 */
import { SECOND_MS } from '../../shared/clock.ts'
import { compliance, withoutDetails, type Compliance, type JudgedDevice } from './compliance.ts'
import { demandedFrom } from './demanded.ts'
import type { DevicePolicy, Policies } from './policies.ts'
import { DEVICE_NOTES, PASS, type DeviceNote, type SignInFacts, type Verdict } from './verdict.ts'

export function device(facts: SignInFacts, policies: Pick<Policies, 'device'>): Verdict {
  const { enrolled, isMissing = false, isWarned = false } = facts.device
  if (!isProofDemanded(facts.userId, policies)) return PASS
  const mayGoOn = policies.device.mode === 'warn'
  if (enrolled === undefined) {
    if (mayGoOn && isWarned) return PASS
    if (isMissing && !mayGoOn) return { kind: 'refuse', reason: 'device_not_enrolled' }
    return { kind: 'ask', step: 'device', reason: 'device_proof_needed' }
  }
  const { complies, graceUntil } = complianceOf(facts, enrolled, policies)
  if (complies) return PASS
  if (!mayGoOn && graceUntil === undefined)
    return { kind: 'refuse', reason: 'device_not_compliant' }
  return isWarned ? PASS : { kind: 'ask', step: 'device', reason: 'device_warning' }
}

/** Whether a sign-in of this person shows on which machine it is. */
export function isProofDemanded(
  userId: string | undefined,
  { device }: Pick<Policies, 'device'>,
): boolean {
  return isDemanding(device) && !isBreakGlass(userId, device)
}

/** Whether the policy stands in anybody's way. */
const isDemanding = ({ require: demand, mode }: DevicePolicy) =>
  demand === 'enrolled' && (mode === 'warn' || mode === 'enforce')

const isBreakGlass = (userId: string | undefined, { break_glass }: DevicePolicy) =>
  userId !== undefined && break_glass.includes(userId)

/** Beside a sign-in that was let in: who came by without a device, or what is only reported so far. */
export function besideSignIn(
  facts: SignInFacts,
  policies: Pick<Policies, 'device'>,
): DeviceNote | undefined {
  const { device: policy } = policies
  if (policy.require !== 'enrolled') return undefined
  if (isBreakGlass(facts.userId, policy))
    return isDemanding(policy) ? 'device_break_glass' : undefined
  if (policy.mode !== 'report') return undefined
  const enforced = { device: { ...policy, mode: 'enforce' as const } }
  const verdict = device(asIfProven(facts, policies, enforced), enforced)
  return DEVICE_NOTES.find((one) => 'reason' in verdict && one === verdict.reason)
}

/** What the machine of an attempt fails at. */
export function complianceOf(
  { at, userId, device }: Pick<SignInFacts, 'at' | 'userId' | 'device'>,
  machine: JudgedDevice,
  policies: Pick<Policies, 'device'>,
): Compliance {
  const { demandedSince } = device
  const recorded =
    demandedSince === undefined ? [] : [demandedFrom(policies.device, demandedSince * SECOND_MS)]
  return compliance(machine, policies.device, {
    userId: userId ?? null,
    nowMs: at * SECOND_MS,
    demanded: device.demanded ?? recorded,
  })
}

/** What is recorded of an attempt. */
export function asRecorded<Facts extends Pick<SignInFacts, 'at' | 'userId' | 'device'>>(
  facts: Facts,
  policies: Pick<Policies, 'device'>,
): Facts {
  const { demanded, ...device } = facts.device
  const { enrolled, last } = device
  const machine = enrolled ?? last ?? undefined
  const { unmetSinceMs = demanded?.at(-1)?.since } =
    machine === undefined ? {} : complianceOf(facts, machine, policies)
  const bare = {
    ...(enrolled && { enrolled: withoutDetails(enrolled) }),
    ...(last && { last: withoutDetails(last) }),
  }
  const since = unmetSinceMs !== undefined && {
    demandedSince: Math.floor(unmetSinceMs / SECOND_MS),
  }
  return { ...facts, device: { ...device, ...bare, ...since } }
}

/**
 * What has been is judged as it would have gone on: who was asked for no proof would have shown it
 * on the device of theirs that was seen last, and who had none could not. Of what was recorded
 * earlier nobody knows either, so the proof is asked for.
 */
export function asIfProven(
  facts: SignInFacts,
  current: Pick<Policies, 'device'>,
  proposed: Pick<Policies, 'device'>,
): SignInFacts {
  const { last, ...device } = facts.device
  const wasAsked = isProofDemanded(facts.userId, current)
  if (last === undefined || wasAsked || !isProofDemanded(facts.userId, proposed)) return facts
  const shown = last === null ? { isMissing: true } : { enrolled: last }
  return { ...facts, device: { ...device, ...shown } }
}

export function isSecondFactorDemanded(
  { device }: Pick<SignInFacts, 'device'>,
  policies: Pick<Policies, 'device'>,
): boolean {
  return policies.device.require === 'known' && !device.isKnown
}
