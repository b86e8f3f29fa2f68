/**
 * One pass over one head. A sticky expression is the gate: what it takes is within the grammar.
 * Then every line is classified once, and runs of kept lines are copied as they came.
 */
import { LIMITS } from '../../shared/limits.ts'
import type { RequestHead } from '../exchange.ts'
import {
  FIELD_LINES,
  PARTIAL_LINE,
  REQUEST_HEAD,
  REQUEST_HEAD_ANY_TARGET,
  REQUEST_LINE,
  hasBrokenEscape,
  isServed,
} from './grammar.ts'
import { REFUSALS } from './refusals.ts'
import type { Refusal } from './refusals.ts'
import { Notes, readFields } from './request-fields.ts'
import { settleConnection, settleFraming, settleHost, settleTarget } from './request-meaning.ts'

/** Mutable while it is read; everybody else sees `RequestHead`. */
export class ParsedHead implements RequestHead {
  method = ''
  target = ''
  authority = ''
  host = ''
  cookies = ''
  keptLines = ''
  accept = ''
  secFetchMode = ''
  secFetchSite = ''
  requestedWith = ''
  userAgent = ''
  forwardedFor = ''
  forwardedProto = ''
  traceparent = ''
  probe = ''
  probePass = ''
  isUpgrade = false

  isHttp10 = false
  /** The client wants the connection to stay open. */
  keepsAlive = true
  expectsContinue = false
  /** Bytes to come; 0 without a body, -1 for chunked. */
  bodyLength = 0
  hasLength = false
  /** Where the body, or the next head, begins in the text. */
  end = 0
}

/** The head that begins at `at`; a refusal; or null, where it has not all arrived yet. */
export function parseRequestHead(
  text: string,
  at: number,
  previous: ParsedHead | null,
): ParsedHead | Refusal | null {
  REQUEST_HEAD.lastIndex = at
  const isOrigin = REQUEST_HEAD.test(text)
  const end = isOrigin ? REQUEST_HEAD.lastIndex : endOfOddHead(text, at)
  if (typeof end !== 'number') return end
  if (end - at > LIMITS.headBytesMax) return REFUSALS.headTooLarge

  const methodEnd = text.indexOf(' ', at)
  const targetEnd = text.indexOf(' ', methodEnd + 1)
  const head = new ParsedHead()
  head.end = end
  head.method = text.slice(at, methodEnd)
  head.target = text.slice(methodEnd + 1, targetEnd)
  head.isHttp10 = text.charCodeAt(targetEnd + 8) === 0x30
  if (!isServed(head.method)) return refusedMethod(head.method)
  if (head.target.length > LIMITS.targetBytesMax) return REFUSALS.targetTooLong

  const notes = new Notes()
  return (
    readFields(head, notes, text, targetEnd + 11, end - 2) ??
    settleHost(head, notes, previous) ??
    (isOrigin ? null : settleTarget(head)) ??
    (hasBrokenEscape(head.target) ? REFUSALS.target : null) ??
    settleFraming(head, notes) ??
    settleConnection(head, notes) ??
    head
  )
}

/** The end of a head whose target is not in origin-form; else why there is none. */
function endOfOddHead(text: string, at: number): number | Refusal | null {
  REQUEST_HEAD_ANY_TARGET.lastIndex = at
  if (REQUEST_HEAD_ANY_TARGET.test(text)) return REQUEST_HEAD_ANY_TARGET.lastIndex
  const lineEnd = text.indexOf('\n', at)
  if (lineEnd === -1) {
    if (text.length - at > LIMITS.targetBytesMax + LIMITS.methodBytesMax + 16)
      return REFUSALS.targetTooLong
    return isPartialLine(text, at) ? null : REFUSALS.malformed
  }
  REQUEST_LINE.lastIndex = at
  if (!REQUEST_LINE.test(text)) return refusedLine(text.slice(at, lineEnd + 1))
  FIELD_LINES.lastIndex = REQUEST_LINE.lastIndex
  FIELD_LINES.test(text)
  const rest = FIELD_LINES.lastIndex
  if (!isPartialLine(text, rest)) return REFUSALS.malformed
  return text.length - at > LIMITS.headBytesMax ? REFUSALS.headTooLarge : null
}

const refusedMethod = (method: string): Refusal =>
  method === 'CONNECT' || method === 'TRACE' ? REFUSALS.method : REFUSALS.methodUnknown

function isPartialLine(text: string, at: number): boolean {
  PARTIAL_LINE.lastIndex = at
  return PARTIAL_LINE.test(text)
}

function refusedLine(line: string): Refusal {
  if (line.length > LIMITS.targetBytesMax + LIMITS.methodBytesMax + 16)
    return REFUSALS.targetTooLong
  return /^[A-Z]+ [\x21-\x7e]+ HTTP\/(?!1\.[01])[0-9]\.[0-9]\r\n$/.test(line)
    ? REFUSALS.version
    : REFUSALS.malformed
}
