/**
 * What each header name means to the wire. Names are compared after `normalised`, in whatever
 * spelling they come.
 */
import { TARGETED_CACHE_FIELDS } from '../../shared/enforcement/answer-sharing.ts'
import {
  CLIENT_CLAIMS,
  CLIENT_PREFIXES,
  METHOD_OVERRIDES,
  normalised,
  PATH_OVERRIDES,
  PATH_PREFIXES,
  SERVICE_ID_HEADER,
  SERVICE_SECRET_HEADER,
} from '../../shared/enforcement/foreign-headers.ts'

/** What is to happen with a header line. `plain` goes on as it came. */
export const FIELD = {
  plain: 0,
  dropped: 1,
  host: 2,
  cookie: 3,
  contentLength: 4,
  transferEncoding: 5,
  connection: 6,
  te: 7,
  expect: 8,
  upgrade: 9,
  accept: 10,
  secFetchMode: 11,
  requestedWith: 12,
  userAgent: 13,
  traceparent: 14,
  forwardedFor: 15,
  forwardedProto: 16,
  probe: 17,
  probePass: 18,
  trailer: 19,
  setCookie: 20,
  cacheControl: 21,
  date: 22,
  keepAlive: 23,
  secFetchSite: 24,
  probeReply: 25,
  tracestate: 26,
  strictTransport: 28,
  requestId: 27,
  targetedCache: 29,
  serviceId: 30,
  serviceSecret: 31,
  authorization: 32,
} as const
type Field = (typeof FIELD)[keyof typeof FIELD]

/** RFC 9110 section 7.6.1, and what is older than it. */
const HOP_BY_HOP = [
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-authentication-info',
  'http2-settings',
]

const dropped = (names: readonly string[]) =>
  names.map((name): [string, Field] => [name, FIELD.dropped])

const REQUEST_FIELDS = new Map<string, Field>([
  ...dropped(HOP_BY_HOP),
  ...dropped(PATH_OVERRIDES),
  ...dropped(CLIENT_CLAIMS),
  ['keep-alive', FIELD.dropped],
  ['host', FIELD.host],
  ['cookie', FIELD.cookie],
  ['content-length', FIELD.contentLength],
  ['transfer-encoding', FIELD.transferEncoding],
  ['connection', FIELD.connection],
  ['te', FIELD.te],
  ['expect', FIELD.expect],
  ['upgrade', FIELD.upgrade],
  ['accept', FIELD.accept],
  ['sec-fetch-mode', FIELD.secFetchMode],
  ['sec-fetch-site', FIELD.secFetchSite],
  ['x-requested-with', FIELD.requestedWith],
  ['user-agent', FIELD.userAgent],
  ['traceparent', FIELD.traceparent],
  ['tracestate', FIELD.tracestate],
  ['x-request-id', FIELD.requestId],
  ['x-forwarded-for', FIELD.forwardedFor],
  ['x-forwarded-proto', FIELD.forwardedProto],
  ['x-service-probe', FIELD.probe],
  ['x-service-probe-pass', FIELD.probePass],
  [SERVICE_ID_HEADER, FIELD.serviceId],
  [SERVICE_SECRET_HEADER, FIELD.serviceSecret],
  ['authorization', FIELD.authorization],
])

const RESPONSE_FIELDS = new Map<string, Field>([
  ...dropped(HOP_BY_HOP),
  ['keep-alive', FIELD.keepAlive],
  ['content-length', FIELD.contentLength],
  ['transfer-encoding', FIELD.transferEncoding],
  ['connection', FIELD.connection],
  ['te', FIELD.dropped],
  ['upgrade', FIELD.dropped],
  ['trailer', FIELD.trailer],
  ['set-cookie', FIELD.setCookie],
  ['x-request-id', FIELD.dropped], // every answer has ours
  ['cache-control', FIELD.cacheControl],
  ...TARGETED_CACHE_FIELDS.map((name) => [name, FIELD.targetedCache] as const),
  ['date', FIELD.date],
  ['x-service-probe-reply', FIELD.probeReply],
  ['strict-transport-security', FIELD.strictTransport],
])

/** Framing under a name that only some readers know: nothing good can be meant. */
export const DISGUISED = 63
/** Names are at most as long as a head, so a length and a field fit into one small integer. */
export const FIELD_BITS = 6
export const FIELD_MASK = (1 << FIELD_BITS) - 1

/** By character: 0 outside of names, else what it is normalised to; `ODD` marks the disguised. */
const NORMAL = new Uint8Array(256)
const ODD = 0x80
const DASH = 0x2d
for (const char of "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") {
  const isOdd = char !== '-' && normalised(char) === '-'
  NORMAL[char.charCodeAt(0)] = isOdd ? ODD | DASH : normalised(char).charCodeAt(0)
}

const SLOTS = 1024

interface TableOptions {
  readonly fields: ReadonlyMap<string, Field>
  /** Names that begin so are dropped; all of them are `x-` and a letter more. */
  readonly prefixes: readonly string[]
  /** Names with anything but letters, digits and dashes are dropped. */
  readonly isOddDropped: boolean
}

/** A small open hash table, so that a name is checked, folded and looked up in one walk over it. */
class FieldTable {
  readonly #names: string[] = Array.from({ length: SLOTS }, () => '')
  readonly #hashes = new Int32Array(SLOTS)
  readonly #fields = new Uint8Array(SLOTS)
  /** By the letter behind `x-`, so that most names are compared with none. */
  readonly #prefixes: (readonly string[] | undefined)[] = Array.from({ length: 128 })
  readonly #isOddDropped: boolean

  constructor({ fields, prefixes, isOddDropped }: TableOptions) {
    this.#isOddDropped = isOddDropped
    for (const prefix of prefixes) {
      const letter = prefix.charCodeAt(2)
      this.#prefixes[letter] = [...(this.#prefixes[letter] ?? []), prefix]
    }
    for (const [name, field] of fields) {
      const hash = hashOf(name)
      let slot = hash & (SLOTS - 1)
      while (this.#names[slot] !== '') slot = (slot + 1) & (SLOTS - 1)
      this.#names[slot] = name
      this.#hashes[slot] = hash
      this.#fields[slot] = field
    }
  }

  /**
   * The name that begins at `at`: its field, and above `FIELD_BITS` its length; -1 where there is
   * no name followed by a colon. Bytes, because to ask a string for its characters costs five
   * times as much; it runs for every line (bench/micro/heads.ts).
   */
  find(bytes: Buffer, at: number): number {
    let hash = 0
    let seen = 0
    let cursor = at
    for (;;) {
      const code = NORMAL[bytes[cursor]!]!
      // Also ends beyond the bytes, where there is no code at all.
      if (!(code > 0)) break
      seen |= code
      hash = (Math.imul(hash, 31) + (code & 0x7f)) | 0
      cursor++
    }
    const length = cursor - at
    if (length === 0 || bytes[cursor] !== 0x3a) return -1
    let slot = hash & (SLOTS - 1)
    for (; this.#names[slot] !== ''; slot = (slot + 1) & (SLOTS - 1)) {
      if (this.#hashes[slot] !== hash || !isName(this.#names[slot]!, bytes, at, length)) continue
      const found = this.#fields[slot]!
      return (length << FIELD_BITS) | ((seen & ODD) === 0 ? found : this.#disguised(found))
    }
    const isDropped =
      ((seen & ODD) !== 0 && this.#isOddDropped) ||
      ((bytes[at]! | 0x20) === 0x78 && length > 2 && this.#hasPrefix(bytes, at, length))
    return (length << FIELD_BITS) | (isDropped ? FIELD.dropped : FIELD.plain)
  }

  #hasPrefix(bytes: Buffer, at: number, length: number): boolean {
    const prefixes = this.#prefixes[NORMAL[bytes[at + 2]!]! & 0x7f]
    if (prefixes === undefined) return false
    for (const prefix of prefixes)
      if (isName(prefix, bytes, at, Math.min(length, prefix.length))) return true
    return false
  }

  #disguised(field: number): number {
    switch (field) {
      case FIELD.contentLength:
      case FIELD.transferEncoding:
        return DISGUISED
      case FIELD.dropped:
      case FIELD.keepAlive:
      case FIELD.probeReply:
        return FIELD.dropped
      default:
        return this.#isOddDropped ? FIELD.dropped : FIELD.plain
    }
  }
}

function hashOf(name: string): number {
  let hash = 0
  for (let at = 0; at < name.length; at++) hash = (Math.imul(hash, 31) + name.charCodeAt(at)) | 0
  return hash
}

function isName(name: string, bytes: Buffer, from: number, length: number): boolean {
  if (name.length !== length) return false
  for (let at = 0; at < length; at++)
    if ((NORMAL[bytes[from + at]!]! & 0x7f) !== name.charCodeAt(at)) return false
  return true
}

const REQUEST_PREFIXES = [...PATH_PREFIXES, ...CLIENT_PREFIXES]

export const requestFields = new FieldTable({
  fields: REQUEST_FIELDS,
  prefixes: REQUEST_PREFIXES,
  isOddDropped: true,
})
export const responseFields = new FieldTable({
  fields: RESPONSE_FIELDS,
  prefixes: ['x-service-'],
  isOddDropped: false,
})

/**
 * May stay away from the upstream when `Connection` names them. These may not: a client that
 * names `Cookie` or `Authorization` would choose what the application gets to see of our decision
 * (CVE-2024-45410).
 */
const NEVER_NOMINATED = new Set([
  'host',
  'cookie',
  'authorization',
  'content-length',
  'content-type',
  'content-encoding',
  'transfer-encoding',
  'origin',
  'referer',
  'set-cookie',
  'cache-control',
  'vary',
  'location',
  'date',
  'www-authenticate',
  'trailer',
])

export const mayBeNominated = (name: string): boolean => !NEVER_NOMINATED.has(normalised(name))

/** RFC 9110 section 6.5.1: what frames, routes, authenticates or is decided on comes in the head. */
const NEVER_IN_TRAILERS = new Set<string>([
  ...NEVER_NOMINATED,
  ...METHOD_OVERRIDES,
  'accept',
  'age',
  'connection',
  'content-range',
  'expect',
  'expires',
  'forwarded',
  'http2-settings',
  'keep-alive',
  'max-forwards',
  'pragma',
  'range',
  'retry-after',
  'te',
  'upgrade',
  'user-agent',
  'warning',
])

/** What is no such name CGI folds into another one. */
const PLAIN_NAME = /^[a-z0-9-]+$/

export function mayBeTrailer(spelling: string): boolean {
  const name = spelling.toLowerCase()
  if (!PLAIN_NAME.test(name) || NEVER_IN_TRAILERS.has(name) || REQUEST_FIELDS.has(name))
    return false
  if (name.startsWith('if-') || name.startsWith('proxy-')) return false
  return !name.startsWith('x-') || !REQUEST_PREFIXES.some((prefix) => name.startsWith(prefix))
}
