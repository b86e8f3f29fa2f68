/** RFC 7541 appendix A: what both ends know of header fields before anything was sent. */
const ROWS = `:authority
:method GET
:method POST
:path /
:path /index.html
:scheme http
:scheme https
:status 200
:status 204
:status 206
:status 304
:status 400
:status 404
:status 500
accept-charset
accept-encoding gzip, deflate
accept-language
accept-ranges
accept
access-control-allow-origin
age
allow
authorization
cache-control
content-disposition
content-encoding
content-language
content-length
content-location
content-range
content-type
cookie
date
etag
expect
expires
from
host
if-match
if-modified-since
if-none-match
if-range
if-unmodified-since
last-modified
link
location
max-forwards
proxy-authenticate
proxy-authorization
range
referer
refresh
retry-after
server
set-cookie
strict-transport-security
transfer-encoding
user-agent
vary
via
www-authenticate`.split('\n')

/** By index, of which the first is 1. */
export const STATIC_NAMES: readonly string[] = ['', ...ROWS.map((row) => row.split(' ')[0]!)]
export const STATIC_VALUES: readonly string[] = [
  '',
  ...ROWS.map((row) => row.slice(row.split(' ')[0]!.length + 1)),
]

export const STATIC_COUNT = ROWS.length

/** The first index of each name. */
export const STATIC_INDEX: ReadonlyMap<string, number> = new Map(
  STATIC_NAMES.map((name, index) => [name, index] as const)
    .slice(1)
    .reverse(),
)

/** What each entry of a table counts for beside its text (section 4.1). */
export const ENTRY_BYTES = 32
export const TABLE_BYTES = 4096
