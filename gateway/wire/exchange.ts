/**
 * Where the wire ends and the decision begins. `http1` and `http2` parse a request into a
 * `RequestHead`, hand an `Exchange` to the pipeline (`request.ts`) and carry out its answer.
 * Nothing behind this file knows a socket, `IncomingMessage` or `ServerResponse`.
 */
import type { Duplex } from 'node:stream'
import type { Answer as OwnAnswer } from '../../shared/sign-in/answer.ts'
import type { ParsedHead } from './parsed-head.ts'
import type { Upstream, UpstreamRequest } from './upstream-call.ts'

export type { OwnAnswer }

/** Without what only the wire has to know: framing, and what becomes of the connection. */
export type RequestHead = Readonly<
  Omit<
    ParsedHead,
    'isHttp10' | 'keepsAlive' | 'expectsContinue' | 'bodyLength' | 'hasLength' | 'end' | 'bodyText'
  >
>

export interface ForwardPlan {
  readonly upstream: Upstream
  /** Whose request it is: clients share the upstream. Without one it shares nothing. */
  readonly client?: string
  /** Lines that we add to the request, a CRLF behind each: Host, Cookie, identity, forwarding. */
  readonly requestLines: string
  /** Where fewer lines go on than the head says. */
  readonly keptLines?: string | undefined
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

/** As it goes on to the application, with what has been read of its body. */
export function upstreamRequest(
  head: ParsedHead,
  plan: ForwardPlan,
  firstBody: string,
  isBodyWhole: boolean,
  isRawChunked: boolean,
): UpstreamRequest {
  return {
    method: head.method,
    target: head.target,
    client: plan.client,
    lines: plan.requestLines + (plan.keptLines ?? head.keptLines),
    bodyLength: head.bodyLength,
    hasLength: head.hasLength,
    firstBody,
    isBodyWhole,
    isRawChunked,
  }
}

export interface Exchange {
  readonly head: RequestHead
  /** Address of the peer socket, IPv4-mapped addresses already written as IPv4. */
  readonly peerAddress: string
  readonly isSecure: boolean
  /** A balancer of the operator's says that it is its own: what is forwarded on it is not believed. */
  readonly namesNobody: boolean
  /** When its head had come: by the wall clock, as times in tokens are, */
  readonly startedMs: number
  /** and by one that nobody sets, with decimals: for durations only. */
  readonly beganMs: number
  /** It takes as much as so many requests more: its site begins as many fewer in this turn. */
  charge(requests: number): void
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
   * For an upgrade: the wire lets go of the socket, or of the stream, which is paused. `leftover` was
   * read beyond the head. Nothing else may be called afterwards.
   */
  takeSocket?(): TakenSocket
}

export interface TakenSocket {
  readonly socket: ClientSocket
  readonly leftover: Buffer
  readonly reads: ReadCounts
  /** Says that the WebSocket is open, with these lines of the answer; returns how many bytes that is. */
  open(lines: string): number
}

/** A socket, or a stream of HTTP/2 that behaves like one. */
export interface ClientSocket extends Duplex {
  setTimeout(ms: number): unknown
  setKeepAlive(isKept: boolean, afterMs: number): unknown
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
