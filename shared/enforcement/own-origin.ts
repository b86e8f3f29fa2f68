/**
 * Cross-site WebSocket hijacking: a browser opens WebSockets to anywhere, with cookies, and asks
 * nobody. Only the Origin header tells that it was another site's page that did (CWE-1385).
 */
import { LIMITS } from '../limits.ts'

interface OriginFacts {
  /** Every Origin of the request, as received. */
  readonly origins: readonly string[]
  /** Of the tenant's addresses, as browsers see them: see `originsOf`. */
  readonly own: ReadonlySet<string>
  readonly protocol: 'http' | 'https'
  /** The Host of this request: a page of the very same address is no other site. */
  readonly authority: string
}

/**
 * As a browser writes it: nothing before the host, nothing behind the port, and every name in ASCII. To
 * read another spelling, as `%E4%B8%80`, takes the square of its length.
 */
const WRITTEN = `https?://[A-Za-z0-9._:[\\]-]{1,${LIMITS.authorityBytesMax}}`
const ORIGIN = new RegExp(`^${WRITTEN}$`, 'i')
const BEGINNING = new RegExp(`^${WRITTEN}(?=[/?#]|$)`, 'i')

/** Programs send no Origin, and nobody can make a browser leave it out. */
export function isOwnOrigin({ origins, own, protocol, authority }: OriginFacts): boolean {
  const [given, ...others] = origins
  if (given === undefined) return true
  if (others.length > 0 || !ORIGIN.test(given)) return false
  const origin = originOf(given)
  if (origin === undefined) return false
  return own.has(origin) || origin === originOf(`${protocol}://${authority}`)
}

/** Made once: to read a hundred addresses anew takes as long as thirty requests. */
export const originsOf = (urls: Iterable<string>): ReadonlySet<string> =>
  new Set([...urls].flatMap((url) => originOf(url) ?? []))

/** `https://App.example:443/a?b` → `https://App.example:443`; `null` for what no browser writes. */
export const writtenOrigin = (url: string): string => BEGINNING.exec(url)?.[0] ?? 'null'

/** `https://App.example:443` → `https://app.example`. */
const originOf = (text: string): string | undefined =>
  URL.canParse(text) ? new URL(text).origin : undefined
