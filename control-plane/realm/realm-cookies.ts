/**
 * The names of a realm's cookies. What says who somebody is has the prefix that no sibling host can
 * set; it is then sent to every realm of the host, so there are only so many at a time.
 */
import { realmPath } from '../../shared/issuer.ts'
import { HOST_PREFIX } from '../../shared/enforcement/cookies.ts'

export function realmCookieName(tenantId: string, purpose: string, isHttps: boolean): string {
  return `${isHttps ? HOST_PREFIX : ''}realm_${tenantId}_${purpose}`
}

/** For what has a path of its own, and proves nothing by itself: `__Host-` has none but `/`. */
export function pathCookieName(tenantId: string, purpose: string, isHttps: boolean): string {
  return `${isHttps ? '__Secure-' : ''}realm_${tenantId}_${purpose}`
}

/** `__Host-` asks for all paths of the host. */
export const sessionCookiePath = (tenantId: string, isHttps: boolean) =>
  isHttps ? '/' : realmPath(tenantId)

/** All values that a browser sends under one name: one that was planted hides no other. */
export function cookieValues(cookies: string, name: string): string[] {
  return pairsOf(cookies).flatMap((pair) => (pair.name === name ? [pair.value] : []))
}

/** The names beyond the `most` newest; values that begin with their time are kept by it. */
export function surplusCookies(cookies: string, meant: RegExp, most: number): string[] {
  const all = pairsOf(cookies).filter(({ name }) => meant.test(name))
  all.sort((a, b) => (a.value < b.value ? 1 : -1))
  return all.slice(most).map(({ name }) => name)
}

function pairsOf(cookies: string) {
  return cookies.split(';').flatMap((pair) => {
    const at = pair.indexOf('=')
    return at < 0 ? [] : [{ name: pair.slice(0, at).trim(), value: pair.slice(at + 1).trim() }]
  })
}
