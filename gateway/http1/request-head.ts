/**
 * One pass over one head. A sticky expression is the gate: what it takes is within the grammar.
 * Then every line is classified once, and runs of kept lines are copied as they came.
 */
import { hasBrokenEscape } from '../../shared/enforcement/target.ts'
import { LIMITS } from '../../shared/limits.ts'
import {
  ODD_REQUEST_LINE,
  REQUEST_LINE,
  endOfLines,
  hasControls,
  isPartialLine,
  isServed,
} from '../wire/grammar.ts'
import { ParsedHead } from '../wire/parsed-head.ts'
import { REFUSALS, type Refusal } from '../wire/refusals.ts'
import { Notes, readFields } from './request-fields.ts'
import { settleConnection, settleFraming, settleHost, settleTarget } from './request-meaning.ts'

/** Most heads fit; the others are cut out of the bytes a second time. */
const FIRST_SLICE_BYTES = 4096

/** The head that begins at `from`; a refusal; or null, where it has not all arrived yet. */
export function parseRequestHead(
  bytes: Buffer,
  from: number,
  to: number,
  previous: ParsedHead | null,
): ParsedHead | Refusal | null {
  const sliceEnd = Math.min(to, from + FIRST_SLICE_BYTES)
  const head = parseText(bytes.toString('latin1', from, sliceEnd), bytes, from, previous)
  if (head !== null || sliceEnd === to) return head
  return parseText(bytes.toString('latin1', from, to), bytes, from, previous)
}

/** `text` is what stands in `bytes` from `from` on. */
function parseText(
  text: string,
  bytes: Buffer,
  from: number,
  previous: ParsedHead | null,
): ParsedHead | Refusal | null {
  REQUEST_LINE.lastIndex = 0
  const isOrigin = REQUEST_LINE.test(text)
  const linesAt = isOrigin ? REQUEST_LINE.lastIndex : endOfOddLine(text)
  if (typeof linesAt !== 'number') return linesAt
  const last = text.indexOf('\r\n\r\n', linesAt - 2)
  if (last === -1) return openHead(text, linesAt)
  const linesEnd = last + 2
  if (linesEnd + 2 > LIMITS.headBytesMax) return REFUSALS.headTooLarge
  if (hasControls(text, linesEnd)) return REFUSALS.malformed

  const methodEnd = text.indexOf(' ')
  const targetEnd = linesAt - HTTP_VERSION.length - 3
  const head = new ParsedHead()
  head.end = from + linesEnd + 2
  head.method = text.slice(0, methodEnd)
  head.target = text.slice(methodEnd + 1, targetEnd)
  head.isHttp10 = text.charCodeAt(linesAt - 3) === 0x30
  if (!isServed(head.method)) return refusedMethod(head.method)
  if (head.target.length > LIMITS.targetBytesMax) return REFUSALS.targetTooLong

  const notes = new Notes()
  return (
    readFields(head, notes, text, bytes, from, linesAt, linesEnd) ??
    settleHost(head, notes, previous) ??
    (isOrigin ? null : settleTarget(head)) ??
    (hasBrokenEscape(head.target) ? REFUSALS.target : null) ??
    settleFraming(head, notes) ??
    settleConnection(head, notes) ??
    withBody(head, text, linesEnd + 2)
  )
}

function withBody(head: ParsedHead, text: string, bodyAt: number): ParsedHead {
  const { bodyLength } = head
  if (bodyLength > 0 && bodyAt + bodyLength <= text.length)
    head.bodyText = text.slice(bodyAt, bodyAt + bodyLength)
  return head
}

const HTTP_VERSION = 'HTTP/1.1'
/** No request line that is within its limits is longer. */
const LINE_BYTES_MAX = LIMITS.targetBytesMax + LIMITS.methodBytesMax + 16

/** Behind a request line whose target is not in origin-form; else what is wrong with it, or null. */
function endOfOddLine(text: string): number | Refusal | null {
  ODD_REQUEST_LINE.lastIndex = 0
  if (ODD_REQUEST_LINE.test(text)) return ODD_REQUEST_LINE.lastIndex
  const lineEnd = text.indexOf('\n')
  if ((lineEnd === -1 ? text.length : lineEnd) > LINE_BYTES_MAX) return REFUSALS.targetTooLong
  if (lineEnd === -1) return isPartialLine(text, 0) ? null : REFUSALS.malformed
  return OTHER_VERSION.test(text.slice(0, lineEnd + 1)) ? REFUSALS.version : REFUSALS.malformed
}

const OTHER_VERSION = /^[A-Z]+ [\x21-\x7e]+ HTTP\/(?!1\.[01])[0-9]\.[0-9]\r\n$/

/** Null where all that is there is right. Nobody waits for the end of what is wrong already. */
function openHead(text: string, linesAt: number): Refusal | null {
  if (!isPartialLine(text, endOfLines(text, linesAt))) return REFUSALS.malformed
  return text.length > LIMITS.headBytesMax ? REFUSALS.headTooLarge : null
}

const refusedMethod = (method: string): Refusal =>
  method === 'CONNECT' || method === 'TRACE' ? REFUSALS.method : REFUSALS.methodUnknown
