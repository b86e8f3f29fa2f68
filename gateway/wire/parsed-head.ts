/** A request head as either protocol reads it. */
import type { RequestHead } from './exchange.ts'

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
  tracestate = ''
  requestId = ''
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
  /** Where the body, or the next head, begins in the bytes. */
  end = 0
  /** The body, where all of it has been made into text together with the head. */
  bodyText = ''
}
