/**
 * The lines that only we write to an application: Host, what is left of Cookie, who the user is,
 * and where the request came from. Everything of the kind that came from outside is gone already.
 */
import { withoutServiceCookies } from '../../shared/enforcement/cookies.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { AccessJudge } from '../../shared/enforcement/access-rules.ts'
import type { TokenClaims } from '../../shared/enforcement/token.ts'
import type { RequestHead } from '../wire/exchange.ts'
import { flat } from '../../shared/enforcement/flat.ts'

interface Forwarding {
  readonly clientAddress: string
  /** The chain that trusted proxies reported, ending in the peer; '' without trusted proxies. */
  readonly addressChain: string
  readonly protocol: 'http' | 'https'
  readonly requestId: string
  /** Valid, from outside or started here. */
  readonly traceparent: string
  /** '' unless it came beside a valid parent. */
  readonly tracestate: string
}

/** Without a session: nobody is named. */
export function forwardingLines(
  head: Pick<RequestHead, 'authority' | 'cookies'>,
  forwarding: Forwarding,
): string {
  return clientLines(head.authority, head.cookies, '', forwarding) + requestLines(forwarding)
}

/**
 * The lines of a session, kept from one request to the next: they are most of what we write, and
 * mostly the same. Joined for good, or they would be joined out of their pieces every time.
 */
export class SessionLines {
  readonly #identityLines: string
  readonly #claims: TokenClaims
  /** Whose names stand in the line of groups, and whose in the text. */
  #named: AccessJudge | undefined
  #access: AccessJudge | undefined
  #groupsLine = ''
  #text = ''
  #authority = ''
  #cookies = ''
  #clientAddress = ''
  #addressChain = ''
  #protocol = ''

  constructor(token: string, claims: TokenClaims) {
    this.#claims = claims
    this.#identityLines = `X-Service-Claims: ${token}\r\nX-Service-User: ${claims.sub}\r\nX-Service-Verified: true\r\n`
  }

  /** `cookies` best as the very string of the time before: then it need not be compared. */
  forwarding(
    authority: string,
    cookies: string,
    forwarding: Forwarding,
    access?: AccessJudge,
  ): string {
    const { clientAddress, addressChain, protocol } = forwarding
    const isSame =
      this.#access === access &&
      this.#cookies === cookies &&
      this.#authority === authority &&
      this.#clientAddress === clientAddress &&
      this.#addressChain === addressChain &&
      this.#protocol === protocol
    if (!isSame) {
      if (this.#named !== access) this.#groupsLine = groupsLine(access, this.#claims)
      this.#named = access
      const identityLines = this.#identityLines + this.#groupsLine
      const text = clientLines(authority, cookies, identityLines, forwarding)
      if (cookies.length > LIMITS.rememberedCookiesMax) return text + requestLines(forwarding)
      this.#access = access
      this.#text = flat(text)
      this.#authority = authority
      this.#cookies = cookies
      this.#clientAddress = clientAddress
      this.#addressChain = flat(addressChain) // of a head that is not to stay
      this.#protocol = protocol
    }
    return this.#text + requestLines(forwarding)
  }
}

/** By the names of now, whatever they were when the token was made; '' where there are no rules. */
function groupsLine(access: AccessJudge | undefined, claims: TokenClaims): string {
  if (access === undefined) return ''
  return `X-Service-Groups: ${access.groupsOf(claims).join(', ')}\r\n`
}

function clientLines(
  authority: string,
  allCookies: string,
  identityLines: string,
  { clientAddress, addressChain, protocol }: Forwarding,
): string {
  const cookies = allCookies === '' ? '' : withoutServiceCookies(allCookies)
  return (
    `Host: ${authority}\r\n` +
    (cookies === '' ? '' : `Cookie: ${cookies}\r\n`) +
    identityLines +
    `X-Forwarded-For: ${addressChain === '' ? clientAddress : addressChain}\r\n` +
    `X-Forwarded-Proto: ${protocol}\r\nX-Forwarded-Host: ${authority}\r\n` +
    `Forwarded: for=${nodeOf(clientAddress)};host="${authority}";proto=${protocol}\r\n`
  )
}

function requestLines({ requestId, traceparent, tracestate }: Forwarding): string {
  return (
    `X-Request-Id: ${requestId}\r\ntraceparent: ${traceparent}\r\n` +
    (tracestate === '' ? '' : `tracestate: ${tracestate}\r\n`)
  )
}

/** RFC 7239 6: an IPv6 address stands in brackets and quotes, and one that nobody knows has a word. */
function nodeOf(address: string): string {
  if (address === '') return 'unknown'
  return address.includes(':') ? `"[${address}]"` : address
}
