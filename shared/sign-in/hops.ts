/** Sign-ins that lead nowhere, counted in a cookie, so that a loop ends on a page. */
import { HOPS_COOKIE, readCookie, setCookie } from '../enforcement/cookies.ts'
import type { Visit } from './visit.ts'

const HOPS_SECONDS = 60

/** How often a sign-in has just been completed without a request that was then let through. */
export function hopsOf(cookies: string): number {
  const value = readCookie(cookies, HOPS_COOKIE)
  return typeof value === 'string' && /^\d{1,3}$/.test(value) ? Number(value) : 0
}

export function hopsCookie({ cookies, isCookieSecure: isSecure }: Visit): string {
  const hops = hopsOf(cookies) + 1
  return setCookie(HOPS_COOKIE, String(hops), { maxAgeSeconds: HOPS_SECONDS, isSecure })
}
