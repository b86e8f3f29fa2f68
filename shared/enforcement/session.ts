/**
 * Is this session good for this request, now? Pure: the proof of the token comes in, everything
 * that time, a revocation or another client can change is looked at here, every time.
 */
import type { SessionBinding } from '../fleet/snapshot.ts'
import type { SignInReason } from '../reasons.ts'
import { isReadable, isSameClient } from './fingerprint.ts'
import { seenIntervalSeconds, type Seen } from './seen.ts'
import { judgeTimes, type TokenClaims } from './token.ts'

export interface SessionRules {
  readonly sessionSecondsMax: number
  readonly idleSeconds: number
  readonly binding: SessionBinding
}

/** Not-before times in seconds. Maps, so that a user called `constructor` is just a user. */
export interface RevokedView {
  readonly all: number
  readonly subjects: ReadonlyMap<string, number>
  readonly sids: ReadonlyMap<string, number>
  /** By person: older tokens are to be issued anew, as their groups are others. */
  readonly claims?: ReadonlyMap<string, number>
}

export interface SessionFacts {
  readonly claims: TokenClaims
  readonly seen: Seen | undefined
  readonly fingerprint: string
  readonly nowSeconds: number
}

/** The reason to sign in again, or undefined for a session that holds. */
export function judgeSession(
  { claims, seen, fingerprint, nowSeconds }: SessionFacts,
  rules: SessionRules,
  revoked: RevokedView,
): SignInReason | undefined {
  const timeReason = judgeTimes(claims, nowSeconds, rules.sessionSecondsMax)
  if (timeReason !== undefined) return timeReason
  if (isRevoked(claims, revoked)) return 'revoked'
  if (isOutdated(claims, revoked)) return 'groups_outdated'
  if (seen === undefined) return 'seen_missing'
  if (nowSeconds - seen.seconds > rules.idleSeconds) return 'idle'
  if (rules.binding === 'off' || isSameClient(seen.fingerprint, fingerprint)) return undefined
  // only a client that is known to be another one ends the session for both
  const isKnownOther = isReadable(seen.fingerprint) && isReadable(fingerprint)
  return rules.binding === 'terminate' && isKnownOther ? 'binding_terminate' : 'binding_step_up'
}

/** A revocation is a not-before time: who signs in again after it is accepted. */
export function isRevoked(claims: TokenClaims, revoked: RevokedView): boolean {
  return (
    claims.iat < revoked.all ||
    claims.iat < (revoked.subjects.get(claims.sub) ?? 0) ||
    claims.iat < (revoked.sids.get(claims.sid) ?? 0)
  )
}

function isOutdated({ iat, sub }: TokenClaims, { claims }: RevokedView): boolean {
  return claims !== undefined && claims.size > 0 && iat < (claims.get(sub) ?? 0)
}

/** The not-before time of a session that ends now: its issuer's clock may be ahead of ours. */
export function endedFrom(nowSeconds: number, issuedSeconds: number): number {
  return Math.max(nowSeconds, issuedSeconds) + 1
}

/** Whether the companion cookie is due to be written again. */
export function isSeenDue(facts: SessionFacts, rules: SessionRules): boolean {
  const { seen, nowSeconds, fingerprint } = facts
  if (seen === undefined) return true
  const isStale = nowSeconds - seen.seconds >= seenIntervalSeconds(rules.idleSeconds)
  return isStale || seen.fingerprint !== fingerprint
}
