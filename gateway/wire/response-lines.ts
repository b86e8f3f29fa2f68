/** The head of an application's answer, as the client gets it. */
import { sharingOf } from '../../shared/enforcement/answer-sharing.ts'
import type { ForwardPlan } from './exchange.ts'
import { BODY, type ResponseHead } from './response-head.ts'

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
  return `${head.lines}${date}${plan.responseLines}${cacheLines(head, plan)}${strict}`
}

/** What a shared cache may store of an answer to a signed-in user goes without our cookie. */
function cacheLines({ cacheControl, isSharedByTarget }: ResponseHead, plan: ForwardPlan): string {
  const cookieLine = isSharedByTarget ? '' : plan.privateCookieLine
  switch (sharingOf(cacheControl)) {
    case 'forbidden':
      return cookieLine
    case 'allowed':
      return ''
    case 'unsaid':
      return plan.isPrivate ? `Cache-Control: private\r\n${cookieLine}` : ''
  }
}
