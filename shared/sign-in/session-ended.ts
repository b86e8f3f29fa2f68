/**
 * Whoever comes to sign in because their session has ended is told so there: the realm is asked with
 * this parameter, and shows a sentence. Anybody can write it; it says nothing that is a secret.
 */
import { readCookie, seenCookieName } from '../enforcement/cookies.ts'
import type { SignInReason } from '../reasons.ts'

interface Asker {
  readonly cookies: string
  readonly isCookieSecure: boolean
}

export const SESSION_ENDED = 'session_ended'

export const SESSION_ENDINGS = ['expired', 'moved'] as const
export type SessionEnding = (typeof SESSION_ENDINGS)[number]

export function sessionEndedOf(
  request: Asker,
  reason: SignInReason | undefined,
): SessionEnding | undefined {
  switch (reason) {
    case undefined:
    case 'session_repeated':
    case 'strength_missing':
    case 'groups_outdated':
      return undefined
    case 'no_session':
      // its companion outlives it in the browser
      return hasCompanion(request) ? 'expired' : undefined
    case 'binding_step_up':
    case 'binding_terminate':
      return 'moved'
    default:
      return 'expired'
  }
}

function hasCompanion({ cookies, isCookieSecure }: Asker) {
  return readCookie(cookies, seenCookieName(isCookieSecure)) !== undefined
}
