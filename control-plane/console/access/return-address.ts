/** Where a person comes back to after signing in: a page of the console, and nothing else. */
import { LIMITS } from '../../../shared/limits.ts'
import { CONSOLE_PATH } from '../../tenants/application-home.ts'

const ADDRESS = /^\/console(?:[/?]|$)/
/** They begin or end a sign-in, and are no place to be. */
const PASSING = /^\/console\/(?:sign-in|callback|welcome|signed-out)(?:[/?]|$)/

/** As a browser reads it, dot segments in every spelling; what it would read otherwise is no page. */
export function safeReturnAddress(given: string | undefined): string {
  if (given === undefined || given.length > LIMITS.returnToBytesMax) return CONSOLE_PATH
  const base = 'http://console.invalid'
  if (!ADDRESS.test(given) || !URL.canParse(given, base)) return CONSOLE_PATH
  const { origin, pathname, search } = new URL(given, base)
  const isAsRead = origin === base && pathname + search === given && !pathname.includes('//')
  return isAsRead && !PASSING.test(given) ? given : CONSOLE_PATH
}

/** `isFresh`: the person is asked to prove it again, whatever the realm remembers. */
export function signInAddress(returnTo: string, isFresh = false): string {
  const query = new URLSearchParams({ return_to: returnTo, ...(isFresh && { fresh: 'yes' }) })
  return `${CONSOLE_PATH}/sign-in?${query.toString()}`
}
