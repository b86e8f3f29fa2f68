/**
 * The grammar of RFC 9110 and 9112 as accept-lists. Every expression is linear: each repeated
 * class is disjoint from what may follow it, so no input makes one walk back more than once.
 */
import { METHODS } from 'node:http'
import { isIPv6 } from 'node:net'
import { LIMITS } from '../../shared/limits.ts'

/** tchar, RFC 9110 section 5.6.2. */
const TCHAR = "!#$%&'*+\\-.^_`|~0-9A-Za-z"
/** VCHAR, SP, HTAB and obs-text: opaque bytes from 0x80 pass through unchanged. */
const VALUE = '\\t\\x20-\\x7e\\x80-\\xff'
const FIELD_LINE = `[${TCHAR}]+:[${VALUE}]*\\r\\n`

/**
 * What browsers really send: RFC 3986 plus the few characters that WHATWG URLs leave raw. In the
 * path a raw `\` would be a `/` to some readers, and `#` is nobody's to send.
 */
const PATH = "!$%&'()*+,\\-./0-9:;=@A-Z\\[\\]\\^_a-z{|}~"
const QUERY = '\\x21\\x22\\x24-\\x7e'
const ORIGIN_FORM = `\\/[${PATH}]*(?:\\?[${QUERY}]*)?`
/** Lower-case letters are left out: `get` must never pass a rule that was written for `GET`. */
const METHOD = '[A-Z-]+'

/** With a target in origin-form; `lastIndex` is then the start of the first header line. Sticky. */
export const REQUEST_LINE = new RegExp(`${METHOD} ${ORIGIN_FORM} HTTP\\/1\\.[01]\\r\\n`, 'y')
/** The same with any visible target: absolute-form, `*`, and what is then refused by its name. */
export const ODD_REQUEST_LINE = new RegExp(`${METHOD} [\\x21-\\x7e]+ HTTP\\/1\\.[01]\\r\\n`, 'y')
/** For heads that are still incomplete: the lines that are there already must be right. */
export const FIELD_LINES = new RegExp(`(?:${FIELD_LINE})*`, 'y')
/** A line that has not ended yet. It may end with CR, and holds no other control byte. */
export const PARTIAL_LINE = new RegExp(`[${VALUE}]*\\r?$`, 'y')

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

const ORIGIN_FORM_ONLY = new RegExp(`^${ORIGIN_FORM}$`)
const PERCENT_TRAP = /%(?:00|(?![0-9A-Fa-f]{2}))/
const TOKEN_ONLY = new RegExp(`^[${TCHAR}]+$`)

export const isToken = (value: string): boolean => TOKEN_ONLY.test(value)
export const isOriginForm = (target: string): boolean => ORIGIN_FORM_ONLY.test(target)

/** A cut escape, or `%00`, which ends the path for whoever decodes it into a C string. */
export function hasBrokenEscape(target: string): boolean {
  if (target.indexOf('%') === -1) return false
  const query = target.indexOf('?')
  return PERCENT_TRAP.test(query === -1 ? target : target.slice(0, query))
}

const AUTHORITY =
  /^(?:([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)|\[([0-9A-Fa-f:.]+)\])(?::([1-9][0-9]{0,4}))?$/

/**
 * `Example.com:8443` → `example.com`; undefined where the grammar is not met. A trailing dot, an
 * empty port and user information are refused: two spellings of one host are one too many.
 */
export function hostOfAuthority(authority: string): string | undefined {
  if (authority.length > LIMITS.authorityBytesMax) return undefined
  const parts = AUTHORITY.exec(authority)
  if (parts === null) return undefined
  const [, name, literal, port] = parts
  if (port !== undefined && Number(port) > 65535) return undefined
  if (literal !== undefined) return isIPv6(literal) ? `[${literal.toLowerCase()}]` : undefined
  return name!.toLowerCase()
}

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
