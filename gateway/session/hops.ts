/** Sign-ins that lead nowhere, counted in a cookie, so that a loop ends on a page. */
import { HOPS_COOKIE, readCookie, setCookie } from '../../shared/enforcement/cookies.ts'
import type { RequestContext } from '../request.ts'

const HOPS_SECONDS = 60

/** How often a sign-in has just been completed without a request that was then let through. */
export function hopsOf(cookies: string): number {
  const value = readCookie(cookies, HOPS_COOKIE)
  return typeof value === 'string' && /^\d{1,3}$/.test(value) ? Number(value) : 0
}

export function hopsCookie(context: RequestContext): string {
  const hops = hopsOf(context.exchange.head.cookies) + 1
  const isSecure = context.isCookieSecure
  return setCookie(HOPS_COOKIE, String(hops), { maxAgeSeconds: HOPS_SECONDS, isSecure })
}
