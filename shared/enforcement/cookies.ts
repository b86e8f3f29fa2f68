/** Cookie names of the service, and a reader that never guesses. */
export const SESSION_COOKIE = 'service_session'
const SEEN_COOKIE = 'service_seen'
export const HOPS_COOKIE = 'service_hops'
/** One per sign-in under way: `service_flow_<id>`. */
export const FLOW_COOKIE_PREFIX = 'service_flow_'
/** Browsers take such a cookie only over TLS, for this very host and for all its paths. */
export const HOST_PREFIX = '__Host-'

/**
 * Companion and hop counter over TLS: no sibling host can set these, and no others are read. A token
 * that was tossed in from there has no companion, so nobody is signed in by it as somebody else.
 */
export const seenCookieName = (isSecure: boolean) => (isSecure ? HOST_SEEN_COOKIE : SEEN_COOKIE)
export const hopsCookieName = (isSecure: boolean) => (isSecure ? HOST_HOPS_COOKIE : HOPS_COOKIE)
const HOST_SEEN_COOKIE = `${HOST_PREFIX}${SEEN_COOKIE}`
const HOST_HOPS_COOKIE = `${HOST_PREFIX}${HOPS_COOKIE}`

/** More than one cookie of a name: the sender decides nothing, so neither do we. */
export const REPEATED = Symbol('repeated cookie')

/**
 * The value of one cookie. Names are compared as they stand, values are not decoded: what another
 * reader might turn into our cookie is not our cookie. Runs per request, so it does not split.
 */
export function readCookie(cookies: string, name: string): string | typeof REPEATED | undefined {
  const first = nextCookie(cookies, name, 0)
  if (first === -1) return undefined
  const start = first + name.length + 1
  const end = cookies.indexOf(';', start)
  if (end === -1) return cookies.slice(start).trimEnd()
  if (nextCookie(cookies, name, end) !== -1) return REPEATED
  return cookies.slice(start, end).trimEnd()
}

/** The values of all cookies of a name, for what has to do with each of them. */
export function readCookies(cookies: string, name: string): string[] {
  const values: string[] = []
  for (let at = nextCookie(cookies, name, 0); at !== -1;) {
    const semicolon = cookies.indexOf(';', at)
    const end = semicolon === -1 ? cookies.length : semicolon
    values.push(cookies.slice(at + name.length + 1, end).trimEnd())
    at = nextCookie(cookies, name, end)
  }
  return values
}

/** Where the next pair of this name starts: at the beginning, or behind `;` and white space. */
function nextCookie(cookies: string, name: string, from: number): number {
  for (let at = cookies.indexOf(name, from); at !== -1; at = cookies.indexOf(name, at + 1)) {
    if (cookies.charCodeAt(at + name.length) !== 0x3d) continue
    let before = at - 1
    while (before >= 0 && isBlank(cookies.charCodeAt(before))) before--
    if (before < 0 || cookies.charCodeAt(before) === 0x3b) return at
  }
  return -1
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

/** Names and values of the flow cookies, oldest first: their names begin with their time. */
export function flowCookies(cookies: string): { name: string; value: string }[] {
  if (!cookies.includes(FLOW_COOKIE_PREFIX)) return []
  return cookies
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => /^(?:__Host-)?service_flow_[^=]*=/.test(pair))
    .map((pair) => ({
      name: pair.slice(0, pair.indexOf('=')),
      value: pair.slice(pair.indexOf('=') + 1),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/**
 * What goes on to the application: all but our companion, flow and hop cookies. Runs for every
 * signed-in request, so pairs are copied as runs and nothing is split.
 */
export function withoutServiceCookies(cookies: string): string {
  if (!cookies.includes('service_')) return cookies
  let kept = ''
  for (let at = 0; at < cookies.length;) {
    const semicolon = cookies.indexOf(';', at)
    let end = semicolon === -1 ? cookies.length : semicolon
    const next = end + 1
    while (at < end && isSpace(cookies.charCodeAt(at))) at++
    while (end > at && isSpace(cookies.charCodeAt(end - 1))) end--
    if (at < end && !isForUs(cookies, at, end))
      kept += (kept === '' ? '' : '; ') + cookies.slice(at, end)
    at = next
  }
  return kept
}

/** Also what only a reader that trims generously would skip. */
const isSpace = (code: number): boolean =>
  code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === 0xa0

function isForUs(cookies: string, from: number, end: number): boolean {
  const name = cookies.startsWith(HOST_PREFIX, from) ? from + HOST_PREFIX.length : from
  if (cookies.startsWith(FLOW_COOKIE_PREFIX, name)) return true
  const ours = cookies.startsWith(SEEN_COOKIE, name)
    ? SEEN_COOKIE
    : cookies.startsWith(HOPS_COOKIE, name)
      ? HOPS_COOKIE
      : undefined
  if (ours === undefined) return false
  const behind = name + ours.length
  return behind === end || cookies.charCodeAt(behind) === 0x3d
}

/** For a request that is not to be taken for its user's own. */
export function withoutSessionCookie(cookies: string): string {
  return cookies
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '' && !pair.startsWith(`${SESSION_COOKIE}=`))
    .join('; ')
}

interface CookieOptions {
  readonly path?: string
  readonly maxAgeSeconds: number
  readonly isSecure: boolean
}

/** `Lax`, so that a link from elsewhere arrives signed in; never readable by scripts. */
export function setCookie(name: string, value: string, options: CookieOptions): string {
  const secure = options.isSecure ? '; Secure' : ''
  const path = options.path ?? '/'
  return `${name}=${value}; Path=${path}; Max-Age=${options.maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`
}

export function clearCookie(name: string, isSecure: boolean, path = '/'): string {
  return setCookie(name, '', { path, maxAgeSeconds: 0, isSecure })
}
