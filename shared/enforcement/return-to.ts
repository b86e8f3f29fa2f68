/** Where a sign-in comes back to: a path on the same host, or `/`. */
import { LIMITS } from '../limits.ts'

/**
 * `new URL(value, base)` leaves the site for `/\evil`, `/<TAB>/evil` and `///evil`, and a browser
 * reads `\` as `/` and drops tabs and line ends. So: printable ASCII, one leading slash, no
 * backslash anywhere, no encoded control or slash right behind the first, and no way for dot
 * segments to end in `//`.
 */
export function safeReturnTo(value: string | undefined): string {
  if (value === undefined || value.length > LIMITS.returnToBytesMax) return '/'
  if (!/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(value)) return '/'
  if (/^\/(?:%(?:[01][0-9a-f]|2f|5c|7f))/i.test(value)) return '/'
  const path = value.split(/[?#]/, 1)[0] ?? ''
  if (/\/\.{0,2}\/|\/\.{1,2}$/.test(path) || /%2e/i.test(path)) return '/'
  // Coming back to /service/logout would undo the sign-in; to see one's sessions one signs in first
  if (path.startsWith('/service/') && path !== '/service/me') return '/'
  return isOwnPath(value) ? value : '/'
}

/** What a browser makes of it, as a last word. */
function isOwnPath(value: string): boolean {
  const base = 'https://host.invalid'
  return URL.canParse(value, base) && new URL(value, base).origin === base
}
