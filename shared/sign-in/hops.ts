/** Sign-ins that lead nowhere, counted in a cookie, so that a loop ends on a page. */
import { hopsCookieName, readCookie, setCookie } from '../enforcement/cookies.ts'
import type { ServiceRequest } from './service-request.ts'

const HOPS_SECONDS = 60

type HopsFacts = Pick<ServiceRequest, 'cookies' | 'isCookieSecure'>

/** How often a sign-in has just been completed without a request that was then let through. */
export function hopsOf({ cookies, isCookieSecure }: HopsFacts): number {
  const value = readCookie(cookies, hopsCookieName(isCookieSecure))
  return typeof value === 'string' && /^\d{1,3}$/.test(value) ? Number(value) : 0
}

export function hopsCookie(facts: HopsFacts): string {
  const { isCookieSecure: isSecure } = facts
  const name = hopsCookieName(isSecure)
  return setCookie(name, String(hopsOf(facts) + 1), { maxAgeSeconds: HOPS_SECONDS, isSecure })
}
