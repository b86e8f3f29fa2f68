/**
 * The lines that only we write to an application: Host, what is left of Cookie, who the user is,
 * and where the request came from. Everything of the kind that came from outside is gone already.
 */
import { withoutServiceCookies } from '../../shared/enforcement/cookies.ts'
import type { RequestHead } from '../exchange.ts'

export interface Forwarding {
  readonly clientAddress: string
  /** The chain that trusted proxies reported, ending in the peer; '' without trusted proxies. */
  readonly addressChain: string
  readonly protocol: 'http' | 'https'
  readonly requestId: string
  /** Valid, from outside or started here. */
  readonly traceparent: string
  /** '' unless it came beside a valid parent. */
  readonly tracestate: string
  /** `X-Service-*` lines of a valid session, or ''. */
  readonly identityLines: string
}

export function forwardingLines(
  head: Pick<RequestHead, 'authority' | 'cookies'>,
  forwarding: Forwarding,
): string {
  const { clientAddress, addressChain, protocol, requestId, identityLines } = forwarding
  const { traceparent, tracestate } = forwarding
  const { authority } = head
  const cookies = head.cookies === '' ? '' : withoutServiceCookies(head.cookies)
  return (
    `Host: ${authority}\r\n` +
    (cookies === '' ? '' : `Cookie: ${cookies}\r\n`) +
    identityLines +
    `X-Forwarded-For: ${addressChain === '' ? clientAddress : addressChain}\r\n` +
    `X-Forwarded-Proto: ${protocol}\r\nX-Forwarded-Host: ${authority}\r\n` +
    `Forwarded: for=${nodeOf(clientAddress)};host="${authority}";proto=${protocol}\r\n` +
    `X-Request-Id: ${requestId}\r\ntraceparent: ${traceparent}\r\n` +
    (tracestate === '' ? '' : `tracestate: ${tracestate}\r\n`)
  )
}

/** RFC 7239 6: an IPv6 address stands in brackets and quotes. */
function nodeOf(address: string): string {
  return address.includes(':') ? `"[${address}]"` : address
}
