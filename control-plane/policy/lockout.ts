import { LIMITS } from '../../shared/limits.ts'
import type { LockoutPolicy, Policies } from './policies.ts'
import { PASS, type SignInFacts, type Verdict } from './verdict.ts'

/** How far back failures are remembered, and the longest pause: nobody is locked out for good. */
export const LOCKOUT_MEMORY_SECONDS = 86_400

/**
 * Have there been too many failures, for this account, from this address or from its site? Failures
 * from browsers that have signed in to the account before are counted apart (the realm loads only
 * those that count), so that strangers who guess cannot keep a person out who comes from their own.
 * Nor can their site: a carrier's customers share one.
 */
export function lockout(
  { at, failures, device }: SignInFacts,
  { lockout }: Pick<Policies, 'lockout'>,
): Verdict {
  const addressUntil = Math.max(
    pausedUntil(failures.address, lockout.address_failures, lockout),
    device.isKnown ? 0 : pausedUntil(failures.site, siteFailuresMax(lockout), lockout),
  )
  if (addressUntil > at) return { kind: 'refuse', reason: 'address_blocked', until: addressUntil }
  const userUntil = pausedUntil(failures.user, lockout.user_failures, lockout)
  if (userUntil > at) return { kind: 'refuse', reason: 'user_paused', until: userUntil }
  return PASS
}

/** From all networks of a site some times as many as from one, and no more than are looked at. */
export const siteFailuresMax = ({ address_failures: ofAddress }: LockoutPolicy): number =>
  Math.min(ofAddress * LIMITS.rateSiteFactor, LIMITS.failuresLookedAtMax)

/**
 * When the newest pause ends; 0 where there was none. A pause begins with the failure that makes
 * it `most` within the window, and the count begins anew behind it.
 */
export function pausedUntil(
  failures: readonly number[],
  most: number,
  { window_seconds: window, pause_seconds: pause }: LockoutPolicy,
): number {
  let until = 0
  let length = Math.min(pause, LOCKOUT_MEMORY_SECONDS)
  let oldest = 0 // of those that are counted, and they are in the order of time
  for (const [index, at] of failures.entries()) {
    // sent away unlooked at
    if (at < until) {
      oldest = index + 1
      continue
    }
    while (failures[oldest]! <= at - window) oldest++
    if (index + 1 - oldest < most) continue
    until = at + length
    length = Math.min(2 * length, LOCKOUT_MEMORY_SECONDS)
    oldest = index + 1
  }
  return until
}
