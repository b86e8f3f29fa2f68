/**
 * Where the wire ends and the decision begins. `http1` and `http2` parse a request into a
 * `RequestHead`, hand an `Exchange` to the pipeline (`request.ts`) and carry out its answer.
 * Nothing behind this file knows a socket, `IncomingMessage` or `ServerResponse`.
 */
import type { Socket } from 'node:net'
import type { Answer as OwnAnswer } from '../../shared/sign-in/answer.ts'
import type { Upstream } from './upstream-call.ts'

export type { OwnAnswer }

/**
 * One request head, checked against the grammar. Every string is latin1 as received; a header
 * that is missing is `''`, a repeated list header is joined with `, `.
 */
export interface RequestHead {
  readonly method: string
  /** Origin-form (or `*` with OPTIONS). This very string is decided on and forwarded. */
  readonly target: string
  /** The Host value as received: `Example.com:8443`. */
  readonly authority: string
  /** Lower-cased, without port: `example.com`; IPv6 keeps its brackets. */
  readonly host: string
  /** All Cookie lines joined with `; `. Never part of `keptLines`. */
  readonly cookies: string
  /**
   * The header lines that go on as they came, a CRLF behind each. Host, Cookie, framing,
   * hop-by-hop (and what Connection names), forwarding, identity and override headers are
   * already gone.
   */
  readonly keptLines: string
  readonly accept: string
  readonly secFetchMode: string
  readonly secFetchSite: string
  readonly requestedWith: string
  readonly userAgent: string
  readonly forwardedFor: string
  readonly forwardedProto: string
  readonly traceparent: string
  readonly tracestate: string
  readonly requestId: string
  readonly probe: string
  readonly probePass: string
  readonly isUpgrade: boolean
}

export interface ForwardPlan {
  readonly upstream: Upstream
  /** Whose request it is: clients share the upstream. Without one it shares nothing. */
  readonly client?: string
  /** Lines that we add to the request, a CRLF behind each: Host, Cookie, identity, forwarding. */
  readonly requestLines: string
  /** Lines that we add to the response, a CRLF behind each: Set-Cookie, X-Request-Id. */
  readonly responseLines: string
  /**
   * The answer belongs to a signed-in user: unless the application says `public` or `s-maxage`,
   * a `Cache-Control: private` line is added, so that no shared cache stores it.
   */
  readonly isPrivate: boolean
  /** A Set-Cookie line (with CRLF) for answers that no shared cache may store; else ''. */
  readonly privateCookieLine: string
}

export interface Exchange {
  readonly head: RequestHead
  /** Address of the peer socket, IPv4-mapped addresses already written as IPv4. */
  readonly peerAddress: string
  readonly isSecure: boolean
  readonly startedMs: number
  /** Answers by ourselves; drains or closes the request body, keeps the connection if it can. */
  respond(answer: OwnAnswer): void
  /** Sends the request on and the application's answer back; failures become 502 or 504. */
  forward(plan: ForwardPlan): void
  /** The whole body, for our own forms; rejects with `BodyTooLarge` beyond the limit. */
  readBody(bytesMax: number): Promise<Buffer>
  /** The answer has begun, and only the application knows when it ends: an event stream. */
  readonly isOpenEnded?: boolean
  /**
   * The decision to forward no longer holds. True: nothing of an answer had been sent, and
   * `respond` may be called once more. False: what had begun is cut, so that it cannot be taken
   * for whole.
   */
  recall?(): boolean
  /** Where the pipeline keeps what its log line needs at the end. The wire never looks. */
  context?: unknown
  /**
   * Only HTTP/1.1, for an upgrade: the wire lets go of the socket, which is paused. `leftover` was
   * read beyond the head. Nothing else may be called afterwards.
   */
  takeSocket?(): TakenSocket
}

export interface TakenSocket {
  readonly socket: Socket
  readonly leftover: Buffer
  readonly reads: ReadCounts
}

/** Of reads that bring next to nothing: whoever sends too many is not read for a while. */
export interface ReadCounts {
  readonly isWaiting: boolean
  /** Called when it may be read again. */
  onGoOn: () => void
  /** For a read that ended in the middle of something. False: the connection has to end. */
  count(bytes: number): boolean
  /** For a small one that did not. */
  countWhole(): void
  /** The connection is gone. */
  leave(): void
}

export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge'
}

/** The client went away, or sent what is no body. It has its answer, if there is anybody left. */
export class BodyUnreadable extends Error {
  override readonly name = 'BodyUnreadable'
}
