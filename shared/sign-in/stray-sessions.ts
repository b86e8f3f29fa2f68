/**
 * More than one `service_session`: a sibling host or an application of the same domain has set one as
 * well, for the parent domain or below a path, where ours does not overwrite it. Nothing tells which is
 * whose to whoever else reads the cookie, so all of them end, and one sign-in makes one.
 */
import { readCookie, REPEATED, SESSION_COOKIE } from '../enforcement/cookies.ts'
import { LIMITS } from '../limits.ts'
import type { Visit } from './visit.ts'

type Sender = Pick<Visit, 'cookies' | 'edgeUrl'>

/** Under `/service/`, where a request has more than one. */
export function strayCleared({ cookies, edgeUrl }: Sender): string[] {
  return readCookie(cookies, SESSION_COOKIE) === REPEATED
    ? clearedVariants(edgeUrl, '/service/')
    : []
}

/** All but the one that is about to be set, where the browser has any already. */
export function othersCleared({ cookies, edgeUrl }: Sender): string[] {
  return readCookie(cookies, SESSION_COOKIE) === undefined
    ? []
    : clearedVariants(edgeUrl, '/service/').slice(1)
}

/** Ends every variant that a browser can have sent with a request to this path; ours comes first. */
export function clearedVariants(edgeUrl: string, path: string): string[] {
  const { hostname, protocol } = new URL(edgeUrl)
  const domains = domainsOf(hostname)
  const places = pathsOf(path).flatMap((at) =>
    domains.map((domain) => `${SESSION_COOKIE}=; Path=${at}; Max-Age=0${domain}`),
  )
  const lines =
    protocol === 'https:'
      ? ['; Secure', '; Secure; Partitioned'].flatMap((end) => places.map((line) => line + end))
      : places
  return lines.slice(0, LIMITS.strayCookiesMax)
}

/** None, then the host itself and each parent that can be a domain; a browser ignores a public suffix. */
function domainsOf(hostname: string): string[] {
  if (!/[a-z]/i.test(hostname) || hostname.startsWith('[')) return ['']
  const labels = hostname.split('.')
  const parents = labels.slice(0, -1).map((_, index) => labels.slice(index).join('.'))
  return ['', ...parents.map((domain) => `; Domain=${domain}`)]
}

/** `/a/b` → `/`, `/a`, `/a/`, `/a/b`: what a cookie for this path may have as its own. */
function pathsOf(target: string): string[] {
  const path = target.split(';', 1)[0]! // no attribute of a cookie is taken from a path
  const paths = ['/']
  for (let at = path.indexOf('/', 1); at !== -1; at = path.indexOf('/', at + 1)) {
    if (paths.length >= LIMITS.strayCookiesMax) return paths
    paths.push(path.slice(0, at), path.slice(0, at + 1))
  }
  if (!path.endsWith('/')) paths.push(path)
  return paths
}
