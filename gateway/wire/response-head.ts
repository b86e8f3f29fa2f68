/** The head of an application's answer, as it goes on to whoever asked. */

export const BODY = { none: 0, length: 1, chunked: 2, untilClose: 3 } as const
type BodyFraming = (typeof BODY)[keyof typeof BODY]

export class ResponseHead {
  status = 0
  reason = ''
  /** The lines that go on to the client, a CRLF behind each; no framing among them. */
  lines = ''
  framing: BodyFraming = BODY.none
  /** Of the body, or of the body that HEAD left out; -1 where none is said. */
  contentLength = -1
  cacheControl = ''
  hasDate = false
  /** Some cache in front of us may store it, whatever Cache-Control says. */
  isSharedByTarget = false
  /** The application says itself for how long it is only to be reached over TLS. */
  hasStrictTransport = false
  isReusable = true
  /** From `Keep-Alive: timeout=5`; 0 where none is said. */
  keepAliveSeconds = 0
  /** Where the body begins in the bytes. */
  end = 0
  /** What has been made into text together with the head: the beginning of the body. */
  bodyText = ''
}
