/** A request on its way: waiting for a connection, on one, or on its second after a dead one. */
import { countedWidelyAs } from '../../shared/client-address.ts'
import { GatheredBytes } from '../wire/gathered-bytes.ts'
import type { Deadlined } from '../wire/deadlines.ts'
import { failure } from '../wire/upstream-call.ts'
import type {
  ResponseSink,
  UpstreamCall,
  UpstreamFailure,
  UpstreamRequest,
} from '../wire/upstream-call.ts'
import type { UpstreamRuntime } from './runtime.ts'

/** What a call has of the connection that it is on. */
interface CallConnection {
  readonly isReady: boolean
  send(piece: Buffer | string): boolean
  sendBorrowed(buffer: Buffer, from: number, to: number): boolean
  awaitResponse(): void
  pause(): void
  resume(): void
  destroy(): void
}

/** And of the pool, where it waits for one. */
export interface CallQueue {
  readonly runtime: Pick<UpstreamRuntime, 'deadlines'>
  forgetWaiting(call: PooledCall): void
}

export class PooledCall implements UpstreamCall, Deadlined {
  readonly request: UpstreamRequest
  readonly sink: ResponseSink
  readonly isRepeatable: boolean
  connection: CallConnection | null = null
  wasRetried = false
  isBodySent: boolean
  isOver = false
  deadlineMs = Infinity
  /** Its answer is not to be read yet. */
  isPaused = false
  #client: string | undefined
  /** Of its time for waiting, however often it waits. */
  #waitLeftMs: number | undefined
  /** Body that came before there was a connection. */
  #unsent: GatheredBytes | null = null
  readonly #upstream: CallQueue

  constructor(
    upstream: CallQueue,
    request: UpstreamRequest,
    sink: ResponseSink,
    isRepeatable: boolean,
  ) {
    this.#upstream = upstream
    this.request = request
    this.sink = sink
    this.isRepeatable = isRepeatable
    this.isBodySent = request.isBodyWhole
  }

  /** Whose share of the pool it counts to; made only where the pool is busy. */
  get client(): string {
    return (this.#client ??= countedWidelyAs(this.request.client ?? ''))
  }

  /** All that goes out first, in one write. */
  firstText(): string {
    const { method, target, lines, bodyLength, hasLength, firstBody } = this.request
    const framing =
      bodyLength === 0
        ? hasLength
          ? 'Content-Length: 0\r\n\r\n'
          : '\r\n'
        : bodyLength < 0
          ? 'Transfer-Encoding: chunked\r\n\r\n'
          : `Content-Length: ${bodyLength}\r\n\r\n`
    return `${method} ${target} HTTP/1.1\r\n${lines}${framing}${firstBody}`
  }

  takeUnsent(): Buffer | null {
    const unsent = this.#unsent
    this.#unsent = null
    return unsent === null ? null : unsent.take()
  }

  #send(piece: Buffer | string): boolean {
    if (this.isOver) return true
    if (this.connection?.isReady) return this.connection.send(piece)
    this.#unsent ??= new GatheredBytes()
    if (typeof piece === 'string') this.#unsent.addText(piece)
    else this.#unsent.add(piece)
    return false
  }

  write(chunk: Buffer): boolean {
    if (this.request.bodyLength >= 0 || this.request.isRawChunked) return this.#send(chunk)
    if (chunk.length === 0) return true
    this.#send(`${chunk.length.toString(16)}\r\n`)
    this.#send(chunk)
    return this.#send('\r\n')
  }

  writeBorrowed(buffer: Buffer, from: number, to: number): boolean {
    const { bodyLength, isRawChunked } = this.request
    const isAsItIs = bodyLength >= 0 || isRawChunked
    if (isAsItIs && !this.isOver && this.connection?.isReady === true)
      return this.connection.sendBorrowed(buffer, from, to)
    return this.write(Buffer.from(buffer.subarray(from, to)))
  }

  writeText(text: string): boolean {
    return this.#send(text)
  }

  end(trailers = ''): void {
    if (this.isBodySent) return
    if (this.request.bodyLength < 0 && !this.request.isRawChunked)
      this.#send(`0\r\n${trailers}\r\n`)
    this.isBodySent = true
    this.connection?.awaitResponse()
  }

  pause(): void {
    this.isPaused = true
    this.connection?.pause()
  }

  resume(): void {
    this.isPaused = false
    this.connection?.resume()
  }

  abort(): void {
    if (this.isOver) return
    this.isOver = true
    this.stopWaiting()
    this.#upstream.forgetWaiting(this)
    this.connection?.destroy()
  }

  fail(reason: UpstreamFailure): void {
    if (this.isOver) return
    this.isOver = true
    this.sink.onError(reason)
  }

  /** The caller does not hold this call yet. */
  failLater(reason: UpstreamFailure): void {
    process.nextTick(() => this.fail(reason))
  }

  wait(inAllMs: number): void {
    const { deadlines } = this.#upstream.runtime
    deadlines.add(this)
    this.deadlineMs = deadlines.nowMs + (this.#waitLeftMs ?? inAllMs)
  }

  stopWaiting(): void {
    if (this.deadlineMs === Infinity) return
    const { deadlines } = this.#upstream.runtime
    this.#waitLeftMs = this.deadlineMs - deadlines.nowMs
    this.deadlineMs = Infinity
    deadlines.delete(this)
  }

  onDeadline(): void {
    this.stopWaiting()
    this.#upstream.forgetWaiting(this)
    this.fail(failure('upstream_connect_timeout', 'no connection became free in time'))
  }
}
