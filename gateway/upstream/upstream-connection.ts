/**
 * One connection to an origin and the response that is being read from it. Listeners are attached
 * once; all that changes from request to request is state.
 */
import type { Socket } from 'node:net'
import { LIMITS } from '../../shared/limits.ts'
import { readBeforeEnd, readLeft } from '../../shared/read-before-end.ts'
import { BegunHead } from '../wire/begun-head.ts'
import { ChunkedReader, type ChunkedSink } from '../wire/chunked.ts'
import type { Deadlined } from '../wire/deadlines.ts'
import { BODY, ResponseHead } from '../wire/response-head.ts'
import { failure, type UpstreamFailure } from '../wire/upstream-call.ts'
import { SMALL_PIECE_BYTES, gatherInTurn } from '../wire/write-turns.ts'
import { failureOf } from './failures.ts'
import type { PooledCall } from './pooled-call.ts'
import { parseResponseHead } from './response-head.ts'
import type { ConnectionPool } from './connection-pool.ts'
import type { OpenConnection } from './open-connection.ts'

const COPIED_BYTES_MAX = 16 * 1024

export class UpstreamConnection implements Deadlined, ChunkedSink {
  deadlineMs = Infinity
  idleSinceMs = 0
  isReady = false
  readonly #upstream: ConnectionPool<UpstreamConnection>
  readonly #socket: Socket
  readonly #chunked = new ChunkedReader()
  #call: PooledCall | null = null
  /** Null while the head of the response is awaited. */
  #head: ResponseHead | null = null
  readonly #begun = new BegunHead(LIMITS.upstreamHeadBytesMax, () => {
    const bytes = this.#begun.take()
    this.#onRead(bytes.length, bytes)
  })
  #bodyLeft = 0
  #informational = 0
  #served = 0
  #isPaused = false
  /** It is at its end, and not all that it has brought has been taken. */
  #brokenBy: UpstreamFailure | null = null
  /** The origin takes no more of the body, and what it has answered has not been read yet. */
  #isDeaf = false
  #isReadEndDue = false
  #isRetiring = false
  #isClosed = false

  constructor(upstream: ConnectionPool<UpstreamConnection>, open: OpenConnection) {
    this.#upstream = upstream
    this.#socket = open({
      onReady: () => this.#onReady(),
      onRead: (bytes, buffer) => this.#onRead(bytes, buffer),
    })
    readBeforeEnd(this.#socket, {
      isAwaited: () => this.#isAnswerAwaited(),
      onRead: (chunk) => this.#onRead(chunk.length, chunk),
      onEnd: (wasReset) => (wasReset ? this.#onClosed(RESET) : this.#onEnd()),
    })
    this.#socket.setNoDelay(true)
    upstream.runtime.deadlines.add(this)
    this.deadlineMs = upstream.runtime.deadlines.nowMs + upstream.timeouts.connectMs
    this.#socket
      .on('drain', () => this.#onDrain())
      .on('end', () => this.#onEnd())
      .on('error', (error) => this.#onBroken(failureOf(error, this.isReady)))
      .on('close', () => this.#onBroken(RESET))
  }

  begin(call: PooledCall): void {
    this.#call = call
    this.#informational = 0
    call.connection = this
    if (this.isReady) this.#sendRequest(call)
    if (call.isPaused) this.pause()
  }

  readonly isPooled = true

  get client(): string | undefined {
    return this.#call?.client
  }

  get served(): number {
    return this.#served
  }

  /** Who is served by it right now. */
  get call(): PooledCall | null {
    return this.#call
  }

  #onReady(): void {
    this.isReady = true
    if (this.#call === null) return this.destroy()
    this.#sendRequest(this.#call)
  }

  #sendRequest(call: PooledCall): void {
    this.#socket.write(call.firstText(), 'latin1')
    const { firstByteMs, idleMs } = this.#upstream.timeouts
    this.#setDeadline(call.isBodySent ? firstByteMs : idleMs)
    const unsent = call.takeUnsent()
    if (unsent === null) return
    if (this.send(unsent) && !call.isBodySent) call.sink.onDrain()
  }

  #setDeadline(afterMs: number): void {
    // While we do not read, nobody can tell whether the origin has answered.
    if (this.#isPaused) return
    // All that a deaf origin has said is with the kernel already.
    const ms = this.#isDeaf ? LIMITS.lingerMsMax : afterMs
    this.deadlineMs = this.#upstream.runtime.deadlines.nowMs + ms
  }

  /** Nothing is repeated of a request with a body, so its answer is worth waiting for. */
  #isAnswerAwaited(): boolean {
    if (this.#isClosed || this.#call === null || this.#call.request.bodyLength === 0) return false
    this.#isDeaf = true
    this.#setDeadline(LIMITS.lingerMsMax)
    process.nextTick(() => this.#onDrain()) // the rest of the body is taken, and thrown away
    return true
  }

  send(piece: Buffer | string): boolean {
    if (this.#isDeaf) return true
    gatherInTurn(this.#socket, piece.length)
    if (this.#head === null) this.#setDeadline(this.#upstream.timeouts.idleMs)
    return typeof piece === 'string'
      ? this.#socket.write(piece, 'latin1')
      : this.#socket.write(piece)
  }

  /** For little a whole spare buffer would be too much to lose. */
  sendBorrowed(buffer: Buffer, from: number, to: number): boolean {
    const bytes = to - from
    if (bytes <= COPIED_BYTES_MAX || this.#isDeaf)
      return this.send(Buffer.from(buffer.subarray(from, to)))
    this.#socket.uncork()
    if (this.#head === null) this.#setDeadline(this.#upstream.timeouts.idleMs)
    const { spare } = this.#upstream.runtime
    const copy = spare.take(bytes)
    buffer.copy(copy, 0, from, to)
    return spare.write(this.#socket, copy, bytes)
  }

  /** The request is all sent: from here on the origin's time runs. */
  awaitResponse(): void {
    if (this.isReady && this.#head === null) this.#setDeadline(this.#upstream.timeouts.firstByteMs)
  }

  #onDrain(): void {
    const call = this.#call
    if (call === null || call.isBodySent) return
    if (this.#head === null) this.#setDeadline(this.#upstream.timeouts.idleMs)
    call.sink.onDrain()
  }

  pause(): void {
    if (this.#isPaused) return
    this.#isPaused = true
    this.deadlineMs = Infinity
    this.#socket.pause()
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    const { connectMs, firstByteMs, idleMs } = this.#upstream.timeouts
    const isAwaited = this.#call?.isBodySent === true && this.#head === null
    this.#setDeadline(!this.isReady ? connectMs : isAwaited ? firstByteMs : idleMs)
    if (this.#brokenBy === null) this.#socket.resume()
    else this.#onBroken(this.#brokenBy)
  }

  /** What it has read is kept in the socket while nobody takes it, and comes before its end. */
  #onBroken(reason: UpstreamFailure): void {
    this.#brokenBy ??= reason
    this.#socket.removeAllListeners('data')
    if (this.#call !== null && this.#isPaused && this.#socket.readableLength > 0) return
    readLeft(this.#socket, (chunk) => this.#onRead(chunk.length, chunk))
    this.#onClosed(this.#brokenBy)
  }

  /** True keeps the socket reading (net's contract for `onread`). */
  #onRead(bytes: number, buffer: Buffer): boolean {
    const call = this.#call
    // Nobody asked: whatever it is, it must not become the answer to the next request.
    if (call === null) {
      this.destroy()
      return false
    }
    if (this.#begun.isEmpty) this.#read(call, buffer, bytes)
    else this.#begun.add(buffer, bytes)
    return !this.#isPaused && !this.#isClosed
  }

  #read(call: PooledCall, buffer: Buffer, to: number): void {
    for (let at = 0; at < to && this.#call === call;)
      at =
        this.#head === null
          ? this.#readHead(call, buffer, at, to)
          : this.#readBody(call, buffer, at, to)
    if (this.#call !== call || this.#head === null) return
    this.#setDeadline(this.#upstream.timeouts.idleMs)
    this.#tellReadEnd(call, to)
  }

  /** What came in small pieces goes on together as well. */
  #tellReadEnd(call: PooledCall, bytes: number): void {
    if (bytes > SMALL_PIECE_BYTES) return call.sink.onReadEnd()
    if (this.#isReadEndDue) return
    this.#isReadEndDue = true
    setImmediate(this.#onReadEnd)
  }

  readonly #onReadEnd = (): void => {
    this.#isReadEndDue = false
    if (this.#head !== null) this.#call?.sink.onReadEnd()
  }

  #readHead(call: PooledCall, buffer: Buffer, at: number, to: number): number {
    const parsed = parseResponseHead(buffer, at, to, call.request.method)
    if (parsed instanceof ResponseHead) {
      this.#begun.isBegun = false
      this.#takeHead(call, parsed, to)
      return parsed.end
    }
    if (parsed === null) this.#begun.keep(buffer, at, to)
    else this.#fail(failure('upstream_invalid', parsed))
    return to
  }

  #takeHead(call: PooledCall, head: ResponseHead, to: number): void {
    if (head.status < 200) this.#readInformational(call, head)
    else this.#beginBody(call, head, to - head.end)
  }

  #readInformational(call: PooledCall, head: ResponseHead): void {
    if (head.status === 101)
      return this.#fail(failure('upstream_invalid', 'an upgrade that nobody asked for'))
    if (++this.#informational > LIMITS.informationalAnswersMax)
      return this.#fail(failure('upstream_invalid', 'too many informational responses'))
    if (head.status !== 100) call.sink.onInformational(head.status, head.reason, head.lines)
  }

  #beginBody(call: PooledCall, head: ResponseHead, bytesHere: number): void {
    this.#head = head
    this.#bodyLeft = head.contentLength
    if (head.framing === BODY.chunked) this.#chunked.reset(call.sink.wantsRawChunks)
    call.sink.onHead(head)
    if (this.#call !== call) return
    if (head.framing === BODY.none) return this.#finish(call, bytesHere, '')
    const { contentLength, bodyText } = head
    if (head.framing !== BODY.length || contentLength > bodyText.length) return
    // All of it came with its head, and is text already.
    if (contentLength > 0) call.sink.onText(bodyText.slice(0, contentLength))
    if (this.#call === call) this.#finish(call, bytesHere - contentLength, '')
  }

  #readBody(call: PooledCall, buffer: Buffer, at: number, to: number): number {
    switch (this.#head!.framing) {
      case BODY.length: {
        const end = at + Math.min(this.#bodyLeft, to - at)
        this.#bodyLeft -= end - at
        this.onBodyRun(buffer, at, end)
        if (this.#bodyLeft === 0 && this.#call === call) this.#finish(call, to - end, '')
        return end
      }
      case BODY.chunked: {
        const end = this.#chunked.scan(buffer, at, to, this)
        if (this.#call !== call) return to
        if (this.#chunked.isBroken)
          this.#fail(failure('upstream_invalid', 'bad chunked coding in the response'))
        else if (this.#chunked.isDone) this.#finish(call, to - end, this.#chunked.trailers)
        return end
      }
      default:
        this.onBodyRun(buffer, at, to)
        return to
    }
  }

  onBodyRun(buffer: Buffer, from: number, to: number): void {
    this.#call?.sink.onData(buffer, from, to)
  }

  onBodyText(text: string): void {
    this.#call?.sink.onText(text)
  }

  /** The response is whole. Back to the pool if both sides are exactly between two messages. */
  #finish(call: PooledCall, strayBytes: number, trailers: string): void {
    const head = this.#head!
    const isWhole = call.isBodySent && !this.#isDeaf
    const isKept =
      head.isReusable && !this.#isRetiring && !this.#isClosed && this.#brokenBy === null
    const isClean = strayBytes === 0 && isWhole && isKept
    this.#call = null
    this.#head = null
    this.#served++
    call.isOver = true
    call.connection = null
    if (this.#isPaused) this.resume()
    if (!isClean) this.destroy()
    else {
      this.idleSinceMs = this.#upstream.runtime.deadlines.nowMs
      // An origin that says when it hangs up is left a second before that.
      const hinted = head.keepAliveSeconds * 1000 - 1000
      const idleMs = this.#upstream.timeouts.idleMs
      this.deadlineMs = this.idleSinceMs + (hinted > 0 ? Math.min(hinted, idleMs) : idleMs)
      if (!this.#upstream.release(this)) this.destroy()
    }
    call.sink.onEnd(trailers)
  }

  /** The origin says no more: the end of a response without a length, else one cut short. */
  #onEnd(): void {
    const call = this.#call
    if (call !== null && this.#head?.framing === BODY.untilClose) this.#finish(call, 0, '')
    this.#onClosed(RESET)
  }

  #onClosed(reason: UpstreamFailure): void {
    if (this.#isClosed) return
    const call = this.#call
    const wasUntouched = this.#head === null && !this.#begun.isBegun && this.#informational === 0
    this.destroy()
    if (call === null || call.isOver) return
    this.#call = null
    call.connection = null
    if (this.#served > 0 && wasUntouched && call.isRepeatable && !call.wasRetried) {
      call.wasRetried = true
      this.#upstream.retry(call)
    } else call.fail(reason)
  }

  #fail(reason: UpstreamFailure): void {
    const call = this.#call
    this.#call = null
    this.destroy()
    if (call === null) return
    call.connection = null
    call.fail(reason)
  }

  onDeadline(): void {
    if (this.#call === null && this.isReady) return this.destroy()
    this.#fail(
      this.isReady
        ? failure('upstream_timeout', 'the application did not answer in time')
        : failure('upstream_connect_timeout', 'the application could not be reached in time'),
    )
  }

  /** It was opened elsewhere, and nobody may need it any more. */
  becomeReady(): void {
    this.isReady = true
    this.idleSinceMs = this.#upstream.runtime.deadlines.nowMs
    this.deadlineMs = this.idleSinceMs + this.#upstream.timeouts.idleMs
  }

  /** No further request: it ends with the one that it serves. */
  retire(): void {
    if (this.#call === null) this.destroy()
    else this.#isRetiring = true
  }

  destroy(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#call = null
    this.deadlineMs = Infinity
    this.#upstream.runtime.deadlines.delete(this)
    this.#socket.destroy()
    this.#upstream.forget(this)
  }
}

const RESET = failure('upstream_reset', 'the application closed the connection early')
