/**
 * Who the application is told the user is. Everything that says so from outside is taken out of
 * the request first, in every place where a framework may read it and in every spelling; then the
 * verified identity is put there.
 */
import {
  withoutServiceCookies,
  withoutSessionCookie,
} from '../../../../shared/enforcement/cookies.ts'
import { isForeign } from '../../../../shared/enforcement/foreign-headers.ts'
import type { Forward, Identity } from '../guard.ts'
import type { Incoming } from './messages.ts'
import { distinctOf, guardTrailers } from './trailers.ts'

const CLAIMS_HEADER = 'X-Service-Claims'
const USER_HEADER = 'X-Service-User'
const VERIFIED_HEADER = 'X-Service-Verified'
const GROUPS_HEADER = 'X-Service-Groups'
const CLAIMS_KEY = 'x-service-claims'
const USER_KEY = 'x-service-user'
const VERIFIED_KEY = 'x-service-verified'
const GROUPS_KEY = 'x-service-groups'
const AUTHORIZATION = 'authorization'

/** Changes `rawHeaders` and `headers` in place: HTTP/2 takes no others. Runs per request. */
export function writeIdentity(request: Incoming, identity: Identity | undefined): void {
  const { headers, rawHeaders } = request // `headers` is made of the lines as they came: look first
  let kept = 0
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    let value = rawHeaders[at + 1]!
    const kind = kindOf(name)
    if (kind === FOREIGN) {
      remove(headers, name, identity !== undefined)
      continue
    }
    if (kind === COOKIE) {
      value = withoutServiceCookies(value)
      if (value === '') continue
    }
    rawHeaders[kept++] = name
    rawHeaders[kept++] = value
  }
  rawHeaders.length = kept
  if (headers.cookie !== undefined) keepCookies(headers, withoutServiceCookies(headers.cookie))
  if (identity !== undefined) {
    const { token, claims } = identity
    rawHeaders.push(CLAIMS_HEADER, token, USER_HEADER, claims.sub, VERIFIED_HEADER, 'true')
    headers[CLAIMS_KEY] = token
    headers[USER_KEY] = claims.sub
    headers[VERIFIED_KEY] = 'true'
    if (identity.groups !== undefined) {
      const groups = identity.groups.join(', ')
      rawHeaders.push(GROUPS_HEADER, groups)
      headers[GROUPS_KEY] = groups
    }
  }
  if ('headersDistinct' in request) Object.defineProperty(request, 'headersDistinct', DISTINCT)
  guardTrailers(request)
}

/** For what another site's page asks: nothing of it is to be taken for its user's own. */
export function withholdSession({ headers, rawHeaders }: Incoming): void {
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    if (rawHeaders[at]!.toLowerCase() === 'cookie')
      rawHeaders[at + 1] = withoutSessionCookie(rawHeaders[at + 1]!)
  keepCookies(headers, withoutSessionCookie(headers.cookie ?? ''))
}

/** By which a machine came in: nobody behind us is to be able to come in with it. */
export function withholdToken({ headers, rawHeaders }: Incoming): void {
  let kept = 0
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (rawHeaders[at]!.toLowerCase() === AUTHORIZATION) continue
    rawHeaders[kept++] = rawHeaders[at]!
    rawHeaders[kept++] = rawHeaders[at + 1]!
  }
  rawHeaders.length = kept
  delete headers[AUTHORIZATION]
}

/** The same for the standard's Headers. */
export function writeIdentityTo(headers: Headers, outcome: Forward): void {
  const { identity, isForeignPage, isTokenOurs = false } = outcome
  if (isTokenOurs) headers.delete(AUTHORIZATION)
  for (const name of [...headers.keys()]) if (isForeign(name)) headers.delete(name)
  const cookies = headers.get('cookie')
  if (cookies !== null) {
    const ours = withoutServiceCookies(cookies)
    const kept = isForeignPage ? withoutSessionCookie(ours) : ours
    if (kept === '') headers.delete('cookie')
    else if (kept !== cookies) headers.set('cookie', kept)
  }
  if (identity === undefined) return
  headers.set(CLAIMS_HEADER, identity.token)
  headers.set(USER_HEADER, identity.claims.sub)
  headers.set(VERIFIED_HEADER, 'true')
  if (identity.groups !== undefined) headers.set(GROUPS_HEADER, identity.groups.join(', '))
}

const PLAIN = 0
const FOREIGN = 1
const COOKIE = 2
const KIND_OF_KNOWN = new Map<string, number>()
const KNOWN_MAX = 500
const KNOWN_CHARACTERS_MAX = 64

/** The few hundred spellings that a server sees over and over are judged once. */
function kindOf(name: string): number {
  const known = KIND_OF_KNOWN.get(name)
  if (known !== undefined) return known
  const kind = isForeign(name) ? FOREIGN : name.toLowerCase() === 'cookie' ? COOKIE : PLAIN
  if (KIND_OF_KNOWN.size < KNOWN_MAX && name.length <= KNOWN_CHARACTERS_MAX)
    KIND_OF_KNOWN.set(name, kind)
  return kind
}

/** What is written again anyway stays in its place: to delete makes an object slow. */
function remove(headers: Incoming['headers'], name: string, hasIdentity: boolean): void {
  const key = name.toLowerCase()
  const isRewritten = key === CLAIMS_KEY || key === USER_KEY || key === VERIFIED_KEY
  if (!hasIdentity || !isRewritten) delete headers[key]
}

function keepCookies(headers: Incoming['headers'], kept: string): void {
  if (kept === '') delete headers.cookie
  else headers.cookie = kept
}

/** Node would make it of as many lines as there once were. */
const DISTINCT: PropertyDescriptor & ThisType<Incoming> = {
  configurable: true,
  get() {
    return distinctOf(this.rawHeaders)
  },
}
