/**
 * How long a session lives, as arithmetic. A session begins with its first token; renewing it
 * silently gives it another token, never more time. All in epoch seconds.
 */

/** A code that is older than this is not exchanged any more. */
export const CODE_SECONDS = 60

interface SessionTimes {
  /** When the person proved who they are. */
  readonly signedInAt: number
  /** When the first token of the session was issued; undefined before that. */
  readonly startedAt?: number | undefined
  /** When a gateway last saw the session used; undefined before that. */
  readonly lastSeenAt?: number | undefined
  readonly isEnded?: boolean | undefined
}

interface SessionRules {
  readonly maxSessionSeconds: number
  readonly idleSeconds: number
}

/**
 * `exp` of a token issued now. The first token gets the whole length, since between password and
 * token lies the way through the browser, and a length of one second is legal; a session whose
 * first token is fetched late is still over one code's life after it should be.
 */
export function tokenExpiresAt(now: number, times: SessionTimes, rules: SessionRules): number {
  return Math.min(
    (times.startedAt ?? now) + rules.maxSessionSeconds,
    times.signedInAt + rules.maxSessionSeconds + CODE_SECONDS,
  )
}

type SessionEnd = 'ended' | 'too_old' | 'idle'

/** Why the realm may not continue a session without asking, if there is a reason. */
export function sessionEnd(
  now: number,
  times: SessionTimes,
  rules: SessionRules,
): SessionEnd | undefined {
  if (times.isEnded) return 'ended'
  if (now >= times.signedInAt + rules.maxSessionSeconds) return 'too_old'
  if (now > Math.max(times.signedInAt, times.lastSeenAt ?? 0) + rules.idleSeconds) return 'idle'
  return undefined
}
