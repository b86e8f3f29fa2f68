/** The head of an application's answer, as the client gets it. */
import type { ForwardPlan } from '../exchange.ts'
import { BODY } from '../upstream/response-head.ts'
import type { ResponseHead } from '../upstream/response-head.ts'

const FORBIDS_SHARING = /(?:^|,)[ \t]*(?:no-store|private)[ \t]*(?:,|$)/i
const ALLOWS_SHARING = /(?:^|,)[ \t]*(?:public|s-maxage[ \t]*=[^,]*)[ \t]*(?:,|$)/i

/** RFC 6797: who came over TLS once comes over TLS for a year. */
export const STRICT_TRANSPORT_LINE = 'Strict-Transport-Security: max-age=31536000\r\n'

/** How long the body is, in the client's words: an HTTP/1.0 client knows no chunks. */
export function framingLine(head: ResponseHead, isHttp10: boolean): string {
  if (head.framing === BODY.chunked || head.framing === BODY.untilClose)
    return isHttp10 ? '' : 'Transfer-Encoding: chunked\r\n'
  return head.contentLength >= 0 ? `Content-Length: ${head.contentLength}\r\n` : ''
}

/** All but the framing: the same on every wire. */
export function responseLines(
  head: ResponseHead,
  plan: ForwardPlan,
  isSecure: boolean,
  dateLine: () => string,
): string {
  const date = head.hasDate ? '' : dateLine()
  // An application that says more (subdomains, preload) or less has its own way.
  const strict = isSecure && !head.hasStrictTransport ? STRICT_TRANSPORT_LINE : ''
  return `${head.lines}${date}${plan.responseLines}${cacheLines(head.cacheControl, plan)}${strict}`
}

/**
 * An answer to a signed-in user must not reach another one out of a shared cache, and neither may
 * the cookie that we add (lessons: CVE-2026-24472).
 */
function cacheLines(cacheControl: string, plan: ForwardPlan): string {
  if (cacheControl !== '') {
    if (FORBIDS_SHARING.test(cacheControl)) return plan.privateCookieLine
    if (ALLOWS_SHARING.test(cacheControl)) return ''
  }
  return plan.isPrivate ? `Cache-Control: private\r\n${plan.privateCookieLine}` : ''
}
