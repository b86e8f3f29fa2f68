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

/** For a day longer than its session, so that whoever signs in anew is told that theirs has expired. */
const OUTLIVES_SECONDS = 86_400

export function seenCookie(value: string, secondsLeft: number, isSecure: boolean): string {
  const maxAgeSeconds = Math.max(1, secondsLeft) + OUTLIVES_SECONDS
  return setCookie(seenCookieName(isSecure), value, { maxAgeSeconds, isSecure })
}

const NONE: readonly string[] = []

/** Values of Set-Cookie, for an answer that no shared cache may store; else left out. */
export function companionCookies(facts: CompanionFacts): readonly string[] {
  const { seenDue, hasHops, isSecure, secondsLeft } = facts
  if (seenDue === '' && !hasHops) return NONE
  const cookies: string[] = []
  if (seenDue !== '') cookies.push(seenCookie(seenDue, secondsLeft, isSecure))
  if (hasHops) cookies.push(clearCookie(hopsCookieName(isSecure), isSecure))
  return cookies
}
