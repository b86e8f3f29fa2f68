/** A request head as either protocol reads it; everybody behind the wire sees `RequestHead`. */

/**
 * Checked against the grammar. Every string is latin1 as received; a header that is missing is
 * `''`, a repeated list header is joined with `, `.
 */
export class ParsedHead {
  method = ''
  /** Origin-form (or `*` with OPTIONS). This very string is decided on and forwarded. */
  target = ''
  /** The Host value as received: `Example.com:8443`. */
  authority = ''
  /** Lower-cased, without port: `example.com`; IPv6 keeps its brackets. */
  host = ''
  /** All Cookie lines joined with `; `. Never part of `keptLines`. */
  cookies = ''
  /**
   * The header lines that go on as they came, a CRLF behind each. Host, Cookie, framing,
   * hop-by-hop (and what Connection names), forwarding, identity and override headers are
   * already gone.
   */
  keptLines = ''
  accept = ''
  secFetchMode = ''
  secFetchSite = ''
  requestedWith = ''
  userAgent = ''
  forwardedFor = ''
  forwardedProto = ''
  traceparent = ''
  tracestate = ''
  requestId = ''
  probe = ''
  probePass = ''
  /** What a machine says of itself; null: it brought no such line. Never part of `keptLines`. */
  machine: { readonly ids: string[]; readonly secrets: string[] } | null = null
  /** All of its lines, which are among `keptLines`. */
  authorization = ''
  isUpgrade = false

  // For the wire alone

  isHttp10 = false
  /** The client wants the connection to stay open. */
  keepsAlive = true
  expectsContinue = false
  /** Bytes to come; 0 without a body, -1 for chunked. */
  bodyLength = 0
  hasLength = false
  /** Where the body, or the next head, begins in the bytes. */
  end = 0
  /** The body, where all of it has been made into text together with the head. */
  bodyText = ''
}
