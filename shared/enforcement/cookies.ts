/** Cookie names of the service, and a reader that never guesses. */
export const SESSION_COOKIE = 'service_session'
export const SEEN_COOKIE = 'service_seen'
export const HOPS_COOKIE = 'service_hops'
/** One per sign-in under way: `service_flow_<id>`. */
export const FLOW_COOKIE_PREFIX = 'service_flow_'

/**
 * The values of one cookie, in order. Names are compared as they stand, values are not decoded:
 * what another reader might turn into our cookie is not our cookie.
 */
export function cookieValues(cookies: string, name: string): string[] {
  const values: string[] = []
  if (!cookies.includes(name)) return values
  for (const pair of cookies.split(';')) {
    const trimmed = pair.trim()
    if (trimmed.startsWith(name) && trimmed.charCodeAt(name.length) === 0x3d)
      values.push(trimmed.slice(name.length + 1))
  }
  return values
}

/** Names and values of the flow cookies, oldest first: their names begin with their time. */
export function flowCookies(cookies: string): { name: string; value: string }[] {
  if (!cookies.includes(FLOW_COOKIE_PREFIX)) return []
  return cookies
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(FLOW_COOKIE_PREFIX) && pair.includes('='))
    .map((pair) => ({
      name: pair.slice(0, pair.indexOf('=')),
      value: pair.slice(pair.indexOf('=') + 1),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** What goes on to the application: all but our companion, flow and hop cookies. */
export function withoutServiceCookies(cookies: string): string {
  if (!/service_(?:seen|hops|flow_)/.test(cookies)) return cookies
  return cookies
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '' && !/^service_(?:seen|hops|flow_[^=]*)(?:=|$)/.test(pair))
    .join('; ')
}

export interface CookieOptions {
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
