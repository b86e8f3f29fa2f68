/** The cookies that an answer to somebody signed in carries for their browser: most carry none. */
import { clearCookie, hopsCookieName, seenCookieName, setCookie } from './cookies.ts'

interface CompanionFacts {
  /** The new value of the companion cookie, '' while the one that came is young enough. */
  readonly seenDue: string
  /** The count of a sign-in's hops came along, which ends with the sign-in. */
  readonly hasHops: boolean
  readonly isSecure: boolean
  readonly secondsLeft: number
}

const NONE: readonly string[] = []

/** Values of Set-Cookie, for an answer that no shared cache may store; else left out. */
export function companionCookies(facts: CompanionFacts): readonly string[] {
  const { seenDue, hasHops, isSecure, secondsLeft } = facts
  if (seenDue === '' && !hasHops) return NONE
  const cookies: string[] = []
  const maxAgeSeconds = Math.max(1, secondsLeft)
  if (seenDue !== '')
    cookies.push(setCookie(seenCookieName(isSecure), seenDue, { maxAgeSeconds, isSecure }))
  if (hasHops) cookies.push(clearCookie(hopsCookieName(isSecure), isSecure))
  return cookies
}
