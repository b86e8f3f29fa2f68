/** Every line of a head, classified once: what it means to us, and whether it goes on. */
import { LIMITS } from '../../shared/limits.ts'
import { DISGUISED, FIELD, FIELD_BITS, FIELD_MASK, requestFields } from '../wire/field-names.ts'
import { contentLengthOf, isBlank, trimmed } from '../wire/grammar.ts'
import { REFUSALS, type Refusal } from '../wire/refusals.ts'
import type { ParsedHead } from '../wire/parsed-head.ts'

/** What a head says in several places, until all of it is read. */
export class Notes {
  hosts = 0
  lengths = 0
  codings = 0
  coding = ''
  connection = ''
  upgrade = ''
  expect = ''
  takesTrailers = false
  probes = 0
  probePasses = 0
}

/** Reads the lines from `from` to `to`; `text` is what stands in `bytes` from `textAt` on. */
export function readFields(
  head: ParsedHead,
  notes: Notes,
  text: string,
  bytes: Buffer,
  textAt: number,
  from: number,
  to: number,
): Refusal | null {
  let at = from
  let runStart = from
  let kept = ''
  for (let count = 1; at < to; count++) {
    if (count > LIMITS.headerCountMax) return REFUSALS.tooManyFields
    const found = requestFields.find(bytes, textAt + at)
    if (found === -1) return REFUSALS.malformed
    const colon = at + (found >> FIELD_BITS)
    const field = found & FIELD_MASK
    // Control bytes were looked for in the whole head; CR and LF must come as one, and end the line.
    const lineEnd = text.indexOf('\r', colon)
    if (text.indexOf('\n', colon) !== lineEnd + 1) return REFUSALS.malformed
    if (field === DISGUISED) return REFUSALS.framing
    const isKept = field === FIELD.plain || takeField(head, notes, field, text, colon + 1, lineEnd)
    if (!isKept || !isTidy(text, colon, lineEnd)) {
      if (at > runStart) kept += text.slice(runStart, at)
      if (isKept) kept += tidied(text, at, colon, lineEnd)
      runStart = lineEnd + 2
    }
    at = lineEnd + 2
  }
  head.keptLines = runStart < to ? kept + text.slice(runStart, to) : kept
  return null
}

function tidied(text: string, at: number, colon: number, lineEnd: number): string {
  const value = trimmed(text, colon + 1, lineEnd)
  return `${text.slice(at, colon)}:${value === '' ? '' : ' '}${value}\r\n`
}

/** At most one space before the value, none behind it: such a line goes on as it came. */
function isTidy(text: string, colon: number, lineEnd: number): boolean {
  if (isBlank(text.charCodeAt(lineEnd - 1))) return false
  const first = text.charCodeAt(colon + 1)
  return first === 32 ? !isBlank(text.charCodeAt(colon + 2)) : first !== 9
}

/** Reads a line that means something to us. True: it goes on to the upstream as well. */
function takeField(
  head: ParsedHead,
  notes: Notes,
  field: number,
  text: string,
  from: number,
  to: number,
): boolean {
  const value = trimmed(text, from, to)
  switch (field) {
    case FIELD.host:
      notes.hosts++
      head.authority = value
      return false
    case FIELD.cookie:
      head.cookies = head.cookies === '' ? value : `${head.cookies}; ${value}`
      return false
    case FIELD.contentLength:
      notes.lengths++
      head.bodyLength = contentLengthOf(value)
      return false
    case FIELD.transferEncoding:
      notes.codings++
      notes.coding = value
      return false
    case FIELD.connection:
      notes.connection = joined(notes.connection, value)
      return false
    case FIELD.te:
      notes.takesTrailers ||= /(?:^|,)[ \t]*trailers[ \t]*(?:,|$)/i.test(value)
      return false
    case FIELD.expect:
      notes.expect = joined(notes.expect, value)
      return false
    case FIELD.upgrade:
      notes.upgrade = joined(notes.upgrade, value)
      return false
    case FIELD.probe:
      head.probe = ++notes.probes === 1 ? value : ''
      return false
    case FIELD.probePass:
      head.probePass = ++notes.probePasses === 1 ? value : ''
      return false
    case FIELD.serviceId:
      machineOf(head).ids.push(value)
      return false
    case FIELD.serviceSecret:
      machineOf(head).secrets.push(value)
      return false
    case FIELD.authorization:
      head.authorization = joined(head.authorization, value)
      return true
    case FIELD.forwardedFor:
      head.forwardedFor = joined(head.forwardedFor, value)
      return false
    case FIELD.forwardedProto:
      head.forwardedProto = joined(head.forwardedProto, value)
      return false
    case FIELD.accept:
      head.accept = joined(head.accept, value)
      return true
    case FIELD.secFetchMode:
      head.secFetchMode = joined(head.secFetchMode, value)
      return true
    case FIELD.secFetchSite:
      head.secFetchSite = joined(head.secFetchSite, value)
      return true
    case FIELD.requestedWith:
      head.requestedWith = joined(head.requestedWith, value)
      return true
    case FIELD.userAgent:
      head.userAgent = joined(head.userAgent, value)
      return true
    case FIELD.traceparent:
      head.traceparent = joined(head.traceparent, value)
      return false
    case FIELD.tracestate:
      head.tracestate = joined(head.tracestate, value)
      return false
    case FIELD.requestId:
      head.requestId = joined(head.requestId, value)
      return false
    default:
      return false
  }
}

const machineOf = (head: ParsedHead) => (head.machine ??= { ids: [], secrets: [] })

const joined = (before: string, value: string): string =>
  before === '' ? value : `${before}, ${value}`
