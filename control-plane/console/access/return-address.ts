/** Where a person comes back to after signing in: a page of the console, and nothing else. */
import { LIMITS } from '../../../shared/limits.ts'
import { CONSOLE_PATH } from '../../tenants/application-home.ts'

const ADDRESS = /^\/console(?:\/[A-Za-z0-9._~%-]+)*\/?(?:\?[A-Za-z0-9._~%&=+:@,!$'()*;/?-]*)?$/

export function safeReturnAddress(given: string | undefined): string {
  if (given === undefined || given.length > LIMITS.returnToBytesMax) return CONSOLE_PATH
  const isSafe = ADDRESS.test(given) && !/\/(?:sign-in|callback|welcome)\b/.test(given)
  return isSafe ? given : CONSOLE_PATH
}

/** `isFresh`: the person is asked to prove it again, whatever the realm remembers. */
export function signInAddress(returnTo: string, isFresh = false): string {
  const query = new URLSearchParams({ return_to: returnTo, ...(isFresh && { fresh: 'yes' }) })
  return `${CONSOLE_PATH}/sign-in?${query.toString()}`
}
