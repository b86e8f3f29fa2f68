/**
 * The head of an upstream's response, read as strictly as a client's: what two readers could
 * understand in two ways is refused, and becomes a 502 before any of it reaches the client.
 */
import { isTargetedSharing } from '../../shared/enforcement/answer-sharing.ts'
import { LIMITS } from '../../shared/limits.ts'
import { DISGUISED, FIELD, FIELD_BITS, FIELD_MASK, responseFields } from '../wire/field-names.ts'
import {
  STATUS_LINE,
  contentLengthOf,
  endOfLines,
  hasControls,
  isPartialLine,
  trimmed,
} from '../wire/grammar.ts'
import { BODY, ResponseHead } from '../wire/response-head.ts'
import { connectionOptions, withoutNominated } from '../wire/connection-options.ts'

/** What is wrong with a response, for the log. */
export type ResponseFault = string

/** Most heads fit; the others are cut out of the bytes a second time. */
const FIRST_SLICE_BYTES = 4096

/** The head that begins at `from`; null while more of it is to come; or what is wrong with it. */
export function parseResponseHead(
  bytes: Buffer,
  from: number,
  to: number,
  method: string,
): ResponseHead | ResponseFault | null {
  const sliceEnd = Math.min(to, from + FIRST_SLICE_BYTES)
  const head = parseText(bytes.toString('latin1', from, sliceEnd), bytes, from, method)
  if (head !== null || sliceEnd === to) return head
  return parseText(bytes.toString('latin1', from, to), bytes, from, method)
}

function parseText(
  text: string,
  bytes: Buffer,
  from: number,
  method: string,
): ResponseHead | ResponseFault | null {
  STATUS_LINE.lastIndex = 0
  if (!STATUS_LINE.test(text)) return openStatusLine(text)
  const linesAt = STATUS_LINE.lastIndex
  const last = text.indexOf('\r\n\r\n', linesAt - 2)
  if (last === -1) return openHead(text, linesAt)
  const linesEnd = last + 2
  if (linesEnd + 2 > LIMITS.upstreamHeadBytesMax) return 'response head too large'
  if (hasControls(text, linesEnd)) return 'control byte in the head'
  const head = new ResponseHead()
  head.end = from + linesEnd + 2
  head.bodyText = text.slice(linesEnd + 2)
  head.status =
    text.charCodeAt(9) * 100 + text.charCodeAt(10) * 10 + text.charCodeAt(11) - 0x30 * 111
  head.reason = text.slice(13, linesAt - 2)
  const notes = new ResponseNotes()
  return (
    readLines(head, notes, text, bytes, from, linesAt, linesEnd) ??
    settle(head, notes, text.charCodeAt(7) === 0x30, method) ??
    head
  )
}

function openStatusLine(text: string): ResponseFault | null {
  if (text.includes('\n')) return 'bad status line'
  if (!'HTTP/1.'.startsWith(text.slice(0, 7))) return 'not an HTTP/1 response'
  const isShort = text.length <= LIMITS.upstreamHeadBytesMax
  return isShort && isPartialLine(text, 0) ? null : 'bad status line'
}

/** What is there of a head that is still coming must be right already. */
function openHead(text: string, linesAt: number): ResponseFault | null {
  if (!isPartialLine(text, endOfLines(text, linesAt))) return 'bad header line'
  return text.length > LIMITS.upstreamHeadBytesMax ? 'response head too large' : null
}

class ResponseNotes {
  lengths = 0
  codings = 0
  coding = ''
  connection = ''
  trailerLine = ''
}

function readLines(
  head: ResponseHead,
  notes: ResponseNotes,
  text: string,
  bytes: Buffer,
  textAt: number,
  from: number,
  to: number,
): ResponseFault | null {
  let at = from
  let runStart = from
  let kept = ''
  for (let count = 1; at < to; count++) {
    if (count > LIMITS.upstreamHeaderCountMax) return 'too many response headers'
    const found = responseFields.find(bytes, textAt + at)
    if (found === -1) return 'bad header line'
    const colon = at + (found >> FIELD_BITS)
    const field = found & FIELD_MASK
    const lineEnd = text.indexOf('\r', colon)
    const next = lineEnd + 2
    if (text.indexOf('\n', colon) !== lineEnd + 1) return 'bad line end'
    if (field === DISGUISED) return 'framing header in disguise'
    if (field !== FIELD.plain && !takeLine(head, notes, field, text, at, colon, lineEnd)) {
      if (at > runStart) kept += text.slice(runStart, at)
      runStart = next
    }
    at = next
  }
  head.lines = runStart < to ? kept + text.slice(runStart, to) : kept
  return null
}

/** Reads a line that means something to us. True: it goes on to the client as well. */
function takeLine(
  head: ResponseHead,
  notes: ResponseNotes,
  field: number,
  text: string,
  at: number,
  colon: number,
  lineEnd: number,
): boolean {
  switch (field) {
    case FIELD.contentLength:
      notes.lengths++
      head.contentLength = contentLengthOf(trimmed(text, colon + 1, lineEnd))
      return false
    case FIELD.transferEncoding:
      notes.codings++
      notes.coding = trimmed(text, colon + 1, lineEnd)
      return false
    case FIELD.connection: {
      const value = trimmed(text, colon + 1, lineEnd)
      notes.connection = notes.connection === '' ? value : `${notes.connection}, ${value}`
      return false
    }
    case FIELD.keepAlive: {
      const seconds = /(?:^|[\s,])timeout=([0-9]{1,6})/i.exec(text.slice(colon + 1, lineEnd))
      head.keepAliveSeconds = Number(seconds?.[1] ?? 0)
      return false
    }
    case FIELD.trailer:
      notes.trailerLine += text.slice(at, lineEnd + 2)
      return false
    case FIELD.setCookie:
      return !isOwnCookie(text.slice(colon + 1, lineEnd))
    case FIELD.cacheControl: {
      const value = trimmed(text, colon + 1, lineEnd)
      head.cacheControl = head.cacheControl === '' ? value : `${head.cacheControl}, ${value}`
      return true
    }
    case FIELD.targetedCache:
      head.isSharedByTarget ||= isTargetedSharing(trimmed(text, colon + 1, lineEnd))
      return true
    case FIELD.date:
      head.hasDate = true
      return true
    case FIELD.strictTransport:
      head.hasStrictTransport = true
      return true
    case FIELD.probeReply:
      return true
    default:
      return false
  }
}

/**
 * The session is ours to set. A browser takes `=service_session=x` for a nameless cookie and sends
 * it back as `service_session=x`, so that spelling is ours as well; and so is what only a reader that
 * trims generously takes for it, by a no-break space (0xa0) or a next line (0x85).
 */
const isOwnCookie = (value: string): boolean =>
  /^[\s\x85=]*(?:__Host-)?service_(?:session|seen|hops|flow_[^\s\x85=;]*)[\s\x85]*(?:[=;]|$)/.test(
    value,
  )

function settle(
  head: ResponseHead,
  notes: ResponseNotes,
  isHttp10: boolean,
  method: string,
): ResponseFault | null {
  head.isReusable = !isHttp10
  if (notes.connection !== '' && notes.connection !== 'keep-alive') {
    const options = connectionOptions(notes.connection)
    if (options === null) return 'bad Connection header'
    if (options.has('close')) head.isReusable = false
    head.lines = withoutNominated(head.lines, options)
  }
  // RFC 9112 section 6.3: with both, or with two, nobody can be sure where the response ends.
  if (notes.lengths > 1) return 'repeated Content-Length'
  if (notes.lengths === 1 && head.contentLength < 0) return 'bad Content-Length'
  if (notes.codings > 0) {
    if (notes.lengths > 0) return 'Content-Length with Transfer-Encoding'
    if (notes.codings > 1 || notes.coding.toLowerCase() !== 'chunked')
      return 'unknown Transfer-Encoding'
    if (isHttp10) return 'Transfer-Encoding in HTTP/1.0'
  }
  if (head.status === 204 || head.status === 205) {
    // RFC 9110 sections 15.3.5 and 15.3.6: no content. What is announced all the same would be read
    // as the start of the next answer, here or by the client, so it ends with its connection.
    if (notes.codings > 0 || head.contentLength > 0) head.isReusable = false
    if (head.status === 205 && notes.lengths === 0) head.isReusable = false
    head.framing = BODY.none
    head.contentLength = head.status === 205 ? 0 : -1
  } else if (head.status < 200 || head.status === 304 || method === 'HEAD') {
    // Some applications write the body to HEAD as well, a moment later: to whoever comes next.
    if (method === 'HEAD' && head.contentLength !== 0) head.isReusable = false
    if (head.status === 304 && (notes.codings > 0 || head.contentLength > 0))
      head.isReusable = false
    head.framing = BODY.none
    if (head.status < 200 || head.status === 304) head.contentLength = -1
  } else if (notes.codings > 0) {
    head.framing = BODY.chunked
    head.lines += notes.trailerLine
  } else if (head.contentLength >= 0) {
    head.framing = BODY.length
  } else {
    head.framing = BODY.untilClose
    head.isReusable = false
  }
  return null
}
