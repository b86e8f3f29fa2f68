/** The head of an application's answer, as the client gets it. */
import type { ForwardPlan } from '../exchange.ts'
import type { ResponseHead } from '../upstream/response-head.ts'

const FORBIDS_SHARING = /(?:^|,)[ \t]*(?:no-store|private)[ \t]*(?:,|$)/i
const ALLOWS_SHARING = /(?:^|,)[ \t]*(?:public|s-maxage[ \t]*=[^,]*)[ \t]*(?:,|$)/i

/** `framingLines` and `connectionLine` are '' or end in CRLF. */
export function responseHeadText(
  head: ResponseHead,
  plan: ForwardPlan,
  dateLine: () => string,
  framingLines: string,
  connectionLine: string,
): string {
  const start = `HTTP/1.1 ${head.status} ${head.reason}\r\n${head.lines}`
  const date = head.hasDate ? '' : dateLine()
  const own = plan.responseLines + cacheLines(head.cacheControl, plan)
  return `${start}${date}${own}${framingLines}${connectionLine}\r\n`
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
