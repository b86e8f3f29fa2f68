/**
 * The grammar of RFC 9110 and 9112 as accept-lists. Every expression is linear: each repeated
 * class is disjoint from what may follow it, so no input makes one walk back more than once.
 */
import { METHODS } from 'node:http'
import { ORIGIN_FORM } from '../../shared/enforcement/target.ts'

/** tchar, RFC 9110 section 5.6.2. */
const TCHAR = "!#$%&'*+\\-.^_`|~0-9A-Za-z"
/** VCHAR, SP, HTAB and obs-text: opaque bytes from 0x80 pass through unchanged. */
const VALUE = '\\t\\x20-\\x7e\\x80-\\xff'
const FIELD_LINE = `[${TCHAR}]+:[${VALUE}]*\\r\\n`

/** Lower-case letters are left out: `get` must never pass a rule that was written for `GET`. */
const METHOD = '[A-Z-]+'

/** With a target in origin-form; `lastIndex` is then the start of the first header line. Sticky. */
export const REQUEST_LINE = new RegExp(`${METHOD} ${ORIGIN_FORM} HTTP\\/1\\.[01]\\r\\n`, 'y')
/** The same with any visible target: absolute-form, `*`, and what is then refused by its name. */
export const ODD_REQUEST_LINE = new RegExp(`${METHOD} [\\x21-\\x7e]+ HTTP\\/1\\.[01]\\r\\n`, 'y')
/** For heads that are still incomplete: the lines that are there already must be right. */
const FIELD_LINES = new RegExp(`(?:${FIELD_LINE})*`, 'y')
/** A line that has not ended yet. It may end with CR, and holds no other control byte. */
const PARTIAL_LINE = new RegExp(`[${VALUE}]*\\r?$`, 'y')

/** Whether what is there from `at` on is one line, or the beginning of one. */
export function isPartialLine(text: string, at: number): boolean {
  PARTIAL_LINE.lastIndex = at
  return PARTIAL_LINE.test(text)
}

/** Behind the last whole line from `at` on. */
export function endOfLines(text: string, at: number): number {
  FIELD_LINES.lastIndex = at
  FIELD_LINES.test(text)
  return FIELD_LINES.lastIndex
}

/** Status 1xx to 5xx. Many servers leave out the space before an empty reason. */
export const STATUS_LINE = new RegExp(`HTTP\\/1\\.[01] [1-5][0-9][0-9](?: [${VALUE}]*)?\\r\\n`, 'y')

/**
 * Where the first control byte is that no value may hold, at `to` or beyond if there is none. Two
 * classes and a character: each of them is searched for with SIMD, and all together are five times
 * as fast as one expression over the lines (bench/micro/heads.ts).
 */
export function hasControls(text: string, to: number): boolean {
  return (
    isWithin(text.search(LOW_CONTROLS), to) ||
    isWithin(text.search(HIGH_CONTROLS), to) ||
    isWithin(text.indexOf('\x7f'), to)
  )
}
const LOW_CONTROLS = /[\0-\x08\x0b\x0c\x0e\x0f]/
const HIGH_CONTROLS = /[\x10-\x1f]/
const isWithin = (found: number, to: number): boolean => found !== -1 && found < to

/** The registered methods. CONNECT would make a tunnel, TRACE would echo cookies: neither is served. */
const SERVED_METHODS = new Set(METHODS.filter((name) => name !== 'CONNECT' && name !== 'TRACE'))
export const isServed = (method: string): boolean => method === 'GET' || SERVED_METHODS.has(method)

const TOKEN_ONLY = new RegExp(`^[${TCHAR}]+$`)

export const isToken = (value: string): boolean => TOKEN_ONLY.test(value)

const DIGITS = /^[0-9]+$/

/** 1*DIGIT, RFC 9110 section 8.6: no sign, no list, no white space. -1 where that is not met. */
export function contentLengthOf(value: string): number {
  if (!DIGITS.test(value)) return -1
  const bytes = Number(value)
  return Number.isSafeInteger(bytes) ? bytes : -1
}

/** The field value from `from` up to `to`, without the optional white space around it. */
export function trimmed(text: string, from: number, to: number): string {
  let start = from
  let end = to
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

export const isBlank = (code: number): boolean => code === 32 || code === 9
