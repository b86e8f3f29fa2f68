/** One request to an upstream and the answer to it: the words between the pool and the protocols. */
import type { Socket } from 'node:net'
import type { ResponseHead } from './response-head.ts'

export interface UpstreamRequest {
  readonly method: string
  readonly target: string
  /** Whose it is: the address that the pool is shared by. '' is nobody's, and shares nothing. */
  readonly client?: string | undefined
  /** Header lines, a CRLF behind each, Host among them. The framing line is added here. */
  readonly lines: string
  /** Bytes of body that will come, -1 where that is unknown (chunked). */
  readonly bodyLength: number
  /** False leaves `Content-Length: 0` out: the client sent none either. */
  readonly hasLength: boolean
  /** The bytes of the body that are here already, one character each: one write with the head. */
  readonly firstBody: string
  /** No `write` will follow: `firstBody` is the whole body. */
  readonly isBodyWhole: boolean
  /** The body comes in chunked framing already; else each `write` becomes a chunk. */
  readonly isRawChunked: boolean
}

/** Why there is no (whole) response. `status` is what the client gets if nothing was sent yet. */
export interface UpstreamFailure {
  readonly status: 502 | 503 | 504
  readonly code: UpstreamFailureCode
  readonly detail: string
}

const UPSTREAM_FAILURES = {
  upstream_closed: 503,
  upstream_busy: 503,
  connector_absent: 503,
  upstream_unresolved: 502,
  upstream_refused: 502,
  upstream_unreachable: 502,
  upstream_tls_failed: 502,
  upstream_reset: 502,
  upstream_invalid: 502,
  upstream_connect_timeout: 504,
  upstream_timeout: 504,
} as const
export type UpstreamFailureCode = keyof typeof UPSTREAM_FAILURES
export const UPSTREAM_FAILURE_CODES = Object.keys(UPSTREAM_FAILURES) as UpstreamFailureCode[]

export const failure = (code: UpstreamFailureCode, detail: string): UpstreamFailure => ({
  status: UPSTREAM_FAILURES[code],
  code,
  detail,
})

/** Who gets the answer. Each method is called in this order; `onError` or `onEnd` is the last. */
export interface ResponseSink {
  /** True: chunked bodies come with their framing, its end included. */
  readonly wantsRawChunks: boolean
  onInformational(status: number, reason: string, lines: string): void
  onHead(head: ResponseHead): void
  /** The bytes are only there during the call. A sink that is full calls `pause()`. */
  onData(buffer: Buffer, from: number, to: number): void
  /** Of the body, one byte a character: all of a small one, or framing where chunks are raw. */
  onText(text: string): void
  /** All that one read brought has been handed over: time to flush. */
  onReadEnd(): void
  /** `trailers`: lines with CRLF, already sent on where raw chunks are wanted. */
  onEnd(trailers: string): void
  onError(failure: UpstreamFailure): void
  /** After `write` returned false: there is room again. */
  onDrain(): void
}

export interface UpstreamCall {
  /** More of the body. False: wait for `onDrain`. */
  write(chunk: Buffer): boolean
  /** The same, for bytes that are only there during the call. */
  writeBorrowed(buffer: Buffer, from: number, to: number): boolean
  /** The same, for text of one byte a character. */
  writeText(text: string): boolean
  /** The body is whole. Trailers only where chunks are not raw. */
  end(trailers?: string): void
  pause(): void
  resume(): void
  /** The client is gone: the connection is closed and the sink hears nothing more. */
  abort(): void
}

/** A connection that is in use. */
export interface InUse {
  /** Requests that it has answered so far. */
  readonly served: number
  /** One request after the other, and not one request's own. */
  readonly isPooled: boolean
  /** Whose request is under way on it, as shares are counted; undefined: nobody's. */
  readonly client: string | undefined
  /** No further request on it: it ends when it is free. */
  retire(): void
}

/** What becomes of the wish for a connection: one of both, once, never within the call. */
export interface Opening {
  /** It comes from another gateway, and goes to no third one. */
  readonly isFromGateway?: true
  /** Whose it is, where it is for one request alone. */
  readonly client?: string
  /** Asked before anything is done for it. False: it is given up, and hears nothing more. */
  isWanted(): boolean
  /** `count`: requests that it has answered besides those that are counted where it is in use. */
  onOpened(socket: Socket, count?: (requests: number) => void): InUse
  onFailed(failure: UpstreamFailure): void
}

/** Another way to an application than by its address: connections that come about elsewhere. */
export interface Way {
  open(opening: Opening): void
  /** So many are in use, beside those that its pool keeps for later, that a client may have its share. */
  isCrowded(idle: number): boolean
  /** Whether this client may have one more. */
  hasRoomFor(client: string): boolean
  /** The same of all who wait, as things stand at this moment: to count for each of them takes the square. */
  roomNow(): (client: string) => boolean
}

export interface Upstream {
  readonly origin: string
  /** What the Host header towards this origin says: `127.0.0.1:9000`, `app.example`. */
  readonly authority: string
  /** Where its connections come from, if it does not dial them. */
  readonly way?: Way | undefined
  request(request: UpstreamRequest, sink: ResponseSink): UpstreamCall
  /** Idle connections close now, busy ones when their request is answered. */
  close(): Promise<void>
  stats(): UpstreamStats
}

export interface UpstreamStats {
  readonly sockets: number
  readonly idle: number
  readonly waiting: number
  readonly connects: number
  readonly retries: number
}
