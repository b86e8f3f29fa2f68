/**
 * What each header name means to the wire. Names are compared after `normalised`, so that a
 * framework that reads `X_Service_User` or `x.service.user` as our header finds it gone.
 */

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
} as const
export type Field = (typeof FIELD)[keyof typeof FIELD]

/** RFC 9110 section 7.6.1, and what is older than it. */
const HOP_BY_HOP = [
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-authentication-info',
  'http2-settings',
]

/** Frameworks let these override the path, the address or the decision (lessons: CVE-2025-29927). */
const OVERRIDES = [
  'x-original-url',
  'x-original-uri',
  'x-original-path',
  'x-original-host',
  'x-rewrite-url',
  'x-override-url',
  'x-http-path-override',
  'x-envoy-original-path',
  'x-waws-unencoded-url',
  'x-proxy-url',
  'x-accel-redirect',
  'x-sendfile',
  'request-uri',
  'base-url',
  'x-real-ip',
  'true-client-ip',
  'x-client-ip',
  'x-middleware-subrequest',
  'proxy',
  'forwarded',
]

const dropped = (names: readonly string[]) =>
  names.map((name): [string, Field] => [name, FIELD.dropped])

const REQUEST_FIELDS = new Map<string, Field>([
  ...dropped(HOP_BY_HOP),
  ...dropped(OVERRIDES),
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
  ['x-forwarded-for', FIELD.forwardedFor],
  ['x-forwarded-proto', FIELD.forwardedProto],
  ['x-service-probe', FIELD.probe],
  ['x-service-probe-pass', FIELD.probePass],
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
  ['cache-control', FIELD.cacheControl],
  ['date', FIELD.date],
  ['x-service-probe-reply', FIELD.plain],
])

/** One byte per (length, first letter): can a name of this look be anything but plain? */
function candidatesOf(fields: ReadonlyMap<string, Field>): Uint8Array {
  const table = new Uint8Array(64 * 32)
  for (const name of fields.keys()) table[slotOf(name.length, name.charCodeAt(0))] = 1
  // Every x- name may be one of ours in disguise.
  for (let length = 0; length < 64; length++) table[slotOf(length, 'x'.charCodeAt(0))] = 1
  return table
}

const slotOf = (length: number, first: number): number => (length & 63) * 32 + (first & 31)
const requestCandidates = candidatesOf(REQUEST_FIELDS)
const responseCandidates = candidatesOf(RESPONSE_FIELDS)

/**
 * Lower-cased, and whatever is no letter or digit a dash: CGI and its heirs fold `_`, `.` and more
 * into one character (CVE-2025-64484).
 */
export function normalised(name: string): string {
  const lower = name.toLowerCase()
  return ODD.test(lower) ? lower.replace(ODD_ALL, '-') : lower
}
const ODD = /[^a-z0-9-]/
const ODD_ALL = /[^a-z0-9-]/g

/** The name in `text` from `from` to `to`. -1: a framing name in a disguise, to be refused. */
export function requestField(text: string, from: number, to: number): Field | -1 {
  if (requestCandidates[slotOf(to - from, text.charCodeAt(from))] === 0) return FIELD.plain
  return classified(REQUEST_FIELDS, text.slice(from, to), 'x-forwarded-')
}

export function responseField(text: string, from: number, to: number): Field | -1 {
  if (responseCandidates[slotOf(to - from, text.charCodeAt(from))] === 0) return FIELD.plain
  return classified(RESPONSE_FIELDS, text.slice(from, to), 'x-service-')
}

function classified(
  fields: ReadonlyMap<string, Field>,
  spelling: string,
  prefixDropped: string,
): Field | -1 {
  const lower = spelling.toLowerCase()
  const exact = fields.get(lower)
  if (exact !== undefined) return exact
  const name = ODD.test(lower) ? lower.replace(ODD_ALL, '-') : lower
  if (name.startsWith('x-service-') || name.startsWith(prefixDropped)) return FIELD.dropped
  if (name === lower) return FIELD.plain
  const disguised = fields.get(name)
  switch (disguised) {
    case FIELD.contentLength:
    case FIELD.transferEncoding:
      return -1
    case FIELD.dropped:
    case FIELD.keepAlive:
    case FIELD.probe:
    case FIELD.probePass:
      return FIELD.dropped
    default:
      return FIELD.plain
  }
}

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
const NEVER_IN_TRAILERS = new Set([
  ...NEVER_NOMINATED,
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

export function mayBeTrailer(spelling: string): boolean {
  const name = normalised(spelling)
  if (NEVER_IN_TRAILERS.has(name) || name.startsWith('if-') || name.startsWith('proxy-'))
    return false
  if (name.startsWith('x-service-') || name.startsWith('x-forwarded-')) return false
  return !REQUEST_FIELDS.has(name)
}
