/**
 * More than one `service_session`: a sibling host or an application of the same domain has set one as
 * well, for the parent domain or below a path, where ours does not overwrite it. Nothing tells which is
 * whose to whoever else reads the cookie, so all of them end, and one sign-in makes one.
 */
import { readCookie, REPEATED, SESSION_COOKIE } from '../enforcement/cookies.ts'
import { LIMITS } from '../limits.ts'
import { hopsOf } from './hops.ts'
import type { ServiceRequest } from './service-request.ts'

type Sender = Pick<ServiceRequest, 'cookies' | 'edgeUrl' | 'isCookieSecure'>

/** Under `/service/`, where a request has more than one. */
export function strayCleared(sender: Sender): string[] {
  return readCookie(sender.cookies, SESSION_COOKIE) === REPEATED
    ? clearedVariants(sender, '/service/')
    : []
}

/** All but the one that is about to be set, where the browser has any already. */
export function othersCleared(sender: Sender): string[] {
  if (readCookie(sender.cookies, SESSION_COOKIE) === undefined) return []
  const own = clearing('/', '') + (isTls(sender) ? '; Secure' : '')
  return clearedVariants(sender, '/service/').filter((line) => line !== own)
}

/**
 * Ends the variants that a browser can have sent with a request to this path. One answer does not hold
 * all of a deep path, so each completed sign-in that led nowhere ends the next ones; the deepest first.
 */
export function clearedVariants(sender: Sender, path: string): string[] {
  const domains = domainsOf(new URL(sender.edgeUrl).hostname)
  const ends = isTls(sender) ? ['; Secure', '; Secure; Partitioned'] : ['']
  const lines = pathsOf(path).flatMap((at) =>
    domains.flatMap((domain) => ends.map((end) => clearing(at, domain) + end)),
  )
  const answers = inAnswers(lines)
  return answers[hopsOf(sender) % answers.length]!
}

const isTls = ({ edgeUrl }: Sender) => edgeUrl.startsWith('https:')

const clearing = (path: string, domain: string) =>
  `${SESSION_COOKIE}=; Path=${path}; Max-Age=0${domain}`

function inAnswers(lines: readonly string[]): string[][] {
  const answers: string[][] = [[]]
  let bytes = 0
  for (const line of lines) {
    const answer = answers.at(-1)!
    bytes += line.length
    if (answer.length < LIMITS.strayCookiesMax && bytes <= LIMITS.strayCookieBytesMax) {
      answer.push(line)
      continue
    }
    answers.push([line])
    bytes = line.length
  }
  return answers
}

/** None, then the host itself and each parent that can be a domain; a browser ignores a public suffix. */
function domainsOf(hostname: string): string[] {
  if (!/[a-z]/i.test(hostname) || hostname.startsWith('[')) return ['']
  const labels = hostname.split('.')
  const parents = labels.slice(0, -1).map((_, index) => labels.slice(index).join('.'))
  return ['', ...parents.map((domain) => `; Domain=${domain}`)]
}

/** `/a/b` → `/a/b`, `/a/`, `/a`, `/`: what a cookie for this path may have as its own. */
function pathsOf(target: string): string[] {
  const path = target.split(';', 1)[0]! // no attribute of a cookie is taken from a path
  const paths: string[] = []
  const add = (length: number) => {
    if (length <= LIMITS.cookiePathBytesMax) paths.push(path.slice(0, length))
  }
  if (!path.endsWith('/')) add(path.length)
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
    if (paths.length >= LIMITS.strayCookiesMax) break
    add(at + 1)
    add(at)
  }
  return [...paths, '/']
}
