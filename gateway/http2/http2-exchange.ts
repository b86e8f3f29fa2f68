/**
 * One stream: what the pipeline decides on, and both halves of carrying that out. Towards the
 * upstream it is the sink of the response. Flow control does what reading and not reading a socket
 * does on the other wire: a body that nobody takes stays with its sender.
 */
import { performance } from 'node:perf_hooks'
import { BodyTooLarge, BodyUnreadable, upstreamRequest } from '../wire/exchange.ts'
import type { Exchange, ForwardPlan, OwnAnswer, TakenSocket } from '../wire/exchange.ts'
import { withLines } from '../wire/answer.ts'
import { ExchangeRecord } from '../wire/exchange-record.ts'
import { BODY_USE } from '../wire/body-use.ts'
import { askerOfHead } from '../wire/asker.ts'
import { REFUSALS } from '../wire/refusals.ts'
import type { Refusal } from '../wire/refusals.ts'
import type { ParsedHead } from '../wire/parsed-head.ts'
import type { ResponseSink, UpstreamCall, UpstreamFailure } from '../wire/upstream-call.ts'
import { BODY } from '../wire/response-head.ts'
import type { ResponseHead } from '../wire/response-head.ts'
import { AnswerProgress } from './answer-progress.ts'
import { RequestBody } from './request-body.ts'
import { appendLines, fieldsOf, trailerLines } from './field-lists.ts'
import { answerFields, isSmall, noteEmptyBody } from './forwarded.ts'
import type { ExchangeConnection } from './world.ts'
import { sendAnswer } from './own-answer.ts'
import { SmallReads } from '../wire/small-reads.ts'
import { StreamSocket } from './stream-socket.ts'
import { UnwantedBody } from './unwanted-body.ts'
import { ERROR } from './protocol/frames.ts'
import type { ServerStream } from './protocol/stream.ts'

export class Http2Exchange implements Exchange, ResponseSink {
  readonly head: ParsedHead
  readonly isSecure = true
  readonly wantsRawChunks = false
  readonly startedMs: number
  readonly beganMs = performance.now()
  context: unknown = undefined
  readonly body: RequestBody
  readonly #progress: AnswerProgress
  readonly #connection: ExchangeConnection<Http2Exchange>
  readonly #stream: ServerStream
  readonly #record = new ExchangeRecord()
  #plan: ForwardPlan | null = null
  #call: UpstreamCall | null = null
  #response: ResponseHead | null = null
  /** The stream has had enough for now. */
  #isFull = false
  /** To be forwarded as soon as the connection has room for an answer. */
  #isHeld = false
  /** Somebody has decided what becomes of this request; later decisions are ignored. */
  #isDecided = false
  #isHeadSent = false
  #isAnswered = false
  /** Its client sent what no application gets, and one had begun. */
  #isBroken = false
  #isOver = false
  /** It has become a WebSocket: whoever took it sees to its end. */
  #socket: StreamSocket | null = null

  constructor(
    connection: ExchangeConnection<Http2Exchange>,
    stream: ServerStream,
    head: ParsedHead,
    startedMs: number,
  ) {
    this.#connection = connection
    this.#progress = new AnswerProgress(connection.world.bodyBuffers)
    this.#stream = stream
    this.head = head
    this.startedMs = startedMs
    this.body = new RequestBody(head.bodyLength, stream.endAfterHeaders)
    stream.on('close', () => this.#onClose())
  }

  get peerAddress(): string {
    return this.#connection.peerAddress
  }
  get namesNobody(): boolean {
    return this.#connection.namesNobody
  }

  // What the pipeline asks for

  charge(requests: number): void {
    this.#connection.charge(requests)
  }

  respond(answer: OwnAnswer): void {
    if (this.#isDecided) return
    this.#isDecided = true
    this.#answer(answer)
  }

  forward(plan: ForwardPlan): void {
    if (this.#isDecided) return
    this.#isDecided = true
    this.#plan = plan
    this.#isHeld = this.#connection.isFull
    if (!this.#isHeld) this.#carryOn()
  }

  #carryOn(): void {
    if (this.body.isDone || this.head.isUpgrade) return this.#startCall('', true)
    // A small body is waited for, so that a slow client does not hold an upstream connection.
    if (!isSmall(this.head)) this.#startCall('', false)
    this.#readBody(isSmall(this.head) ? BODY_USE.gathered : BODY_USE.forwarded)
  }

  readBody(bytesMax: number): Promise<Buffer> {
    if (this.#isOver) return Promise.reject(new BodyUnreadable('the client is gone'))
    if (this.head.bodyLength > bytesMax)
      return Promise.reject(new BodyTooLarge('the body is too large'))
    const collector = this.body.collect(bytesMax)
    if (this.body.isDone) collector.end()
    else this.#readBody(BODY_USE.collected)
    return collector.body
  }

  get isOpenEnded(): boolean {
    const framing = this.#response?.framing
    return (framing === BODY.chunked || framing === BODY.untilClose) && this.body.isDone
  }

  recall(): boolean {
    if (this.#isOver || this.#isAnswered) return false
    this.#call?.abort()
    if (this.#isHeadSent) {
      this.#cut()
      return false
    }
    this.#progress.drop()
    this.body.forget()
    if (!this.#isHeld) this.body.use = BODY_USE.discarded // else nobody reads it yet
    this.#isHeld = false
    this.#isDecided = false
    return true
  }

  get isTaken(): boolean {
    return this.#socket !== null
  }

  takeSocket(): TakenSocket {
    this.#isDecided = true
    this.#isOver = true
    const { world } = this.#connection
    const socket = new StreamSocket(this.#stream, this.#connection, (bytes) =>
      this.#awaitSocket(bytes),
    )
    this.#socket = socket
    this.#connection.handOver(this)
    const reads = new SmallReads(world, this.peerAddress, () => undefined)
    this.body.release(() => reads.countWhole())
    return { socket, leftover: Buffer.alloc(0), reads, open: (lines) => socket.open(lines) }
  }

  /** The little that it holds is waited for without end, but not what fills the connection together. */
  #awaitSocket(writtenBytes: number): void {
    this.#progress.bytes += writtenBytes
    const isDue = this.#connection.isFull && this.unsentBytes > 0
    if (isDue && this.#progress.deadlineMs === Infinity) this.#awaitTaking()
  }

  #answer(answer: OwnAnswer): void {
    this.#isHeadSent = true
    this.#isAnswered = true
    this.#progress.bytes = answer.body.length
    if (!this.#stream.closed)
      this.#record.status = sendAnswer(this.#stream, answer, this.#connection.world.dateLine())
    this.#connection.onWritten(this.unsentBytes)
    this.#leaveBody()
  }

  // The body of the request

  #readBody(use: number): void {
    this.body.use = use
    if (this.head.expectsContinue) this.#stream.additionalHeaders([':status', '100'])
    this.body.turn.begin(this.#connection.world)
    this.#hearBody()
    this.#stream.resume()
  }

  #hearBody(): void {
    this.#stream
      .on('data', (chunk: Buffer) => this.#onBodyData(chunk))
      .on('trailers', () => this.#onTrailers())
      .on('end', () => this.#onBodyEnd())
    // They may have come while nobody had decided yet.
    this.#onTrailers()
  }

  #onBodyData(chunk: Buffer): void {
    const { body } = this
    if (body.use === BODY_USE.discarded) return body.unwanted?.onData(chunk.length)
    // From the head of an answer on the two talk at the pace that they like.
    if (!body.turn.goesOn(chunk.length, this.#connection.world) && this.#response === null)
      return this.fail(REFUSALS.bodyTimeout)
    if (!body.count(chunk.length)) return this.fail(REFUSALS.framing)
    if (body.use !== BODY_USE.forwarded) return body.keep(chunk)
    if (this.#call!.write(chunk)) return
    this.#stream.pause()
    body.turn.deadlineMs = Infinity
  }

  onDrain(): void {
    if (this.body.isDone || this.body.use !== BODY_USE.forwarded) return
    this.body.turn.begin(this.#connection.world)
    this.#stream.resume()
  }

  #onTrailers(): void {
    const { trailers } = this.#stream
    if (trailers === null || this.body.use === BODY_USE.discarded) return
    const lines = trailerLines(trailers)
    if (lines === null) this.fail(REFUSALS.body)
    else this.body.trailers = lines
  }

  #onBodyEnd(): void {
    if (this.#isOver || (this.#stream.closed && !this.#isAnswered)) return
    if (this.#stream.rstCode !== ERROR.none) return
    const { body } = this
    body.end()
    this.#connection.endUpload(this)
    if (body.use === BODY_USE.discarded) return
    if (!body.isWhole) return this.fail(REFUSALS.framing)
    if (body.use === BODY_USE.forwarded) this.#call!.end(body.trailers)
    else if (body.use === BODY_USE.collected) body.handOver()
    else this.#startCall(body.takeText(), true)
  }

  /** We have said what we have to say: what is still to come of the body is nobody's. */
  #leaveBody(): void {
    this.#awaitTaking()
    const { body } = this
    if (body.isDone) return
    body.turn.deadlineMs = Infinity
    const connection = this.#connection
    connection.endUpload(this) // no application waits for it
    const isNew = body.use === BODY_USE.held
    body.use = BODY_USE.discarded
    const isUnsent = (isNew && this.head.expectsContinue) || this.head.isUpgrade
    if (isUnsent || connection.isClosing) return this.#stream.leaveRequest()
    if (isNew) this.#hearBody()
    body.unwanted = new UnwantedBody(this.#stream, connection.world.deadlines)
    this.#stream.resume()
  }

  // The response

  #startCall(firstBody: string, isBodyWhole: boolean): void {
    if (isBodyWhole && firstBody === '') noteEmptyBody(this.head)
    const request = upstreamRequest(this.head, this.#plan!, firstBody, isBodyWhole, false)
    this.#record.sent()
    this.#call = this.#plan!.upstream.request(request, this)
  }

  onInformational(status: number, _reason: string, lines: string): void {
    const fields = [':status', String(status)]
    appendLines(fields, lines)
    this.#stream.additionalHeaders(fields)
  }

  onHead(head: ResponseHead): void {
    this.#record.headCame()
    this.#response = head
  }

  onData(buffer: Buffer, from: number, to: number): void {
    this.#progress.add(buffer, from, to)
  }

  onText(text: string): void {
    this.#progress.addText(text)
  }

  onReadEnd(): void {
    const stream = this.#stream
    if (!this.#isHeadSent) this.#sendHead(false)
    const body = this.#progress.take()
    if (body === null || stream.writableEnded) return
    const { onTaken } = this.#connection
    this.#isFull = !stream.write(body, this.#progress.whenDone(onTaken))
    if (this.#progress.deadlineMs === Infinity) this.#awaitTaking()
    this.#connection.onWritten(body.length)
    if (!this.#isFull) return
    this.#call!.pause()
    stream.once('drain', () => {
      this.#isFull = false
      this.adjustReading()
    })
  }

  get unsentBytes(): number {
    return this.#stream.writableLength
  }

  /** The connection is full, or is no more: then nothing is read from the application, or it is. */
  adjustReading(): void {
    if (this.isTaken) this.#awaitSocket(0)
    if (this.#isOver) return this.#socket?.adjust()
    if (this.#connection.isFull || this.#isFull) return void this.#call?.pause()
    if (this.#isHeld) {
      this.#isHeld = false
      this.#carryOn()
    } else this.#call?.resume()
  }

  #awaitTaking(): void {
    const { world, progress } = this.#connection
    this.#connection.onWaiting(this)
    this.#progress.await(world.deadlines.nowMs, progress.idleMs, this.unsentBytes)
  }

  #checkTaking(nowMs: number): void {
    const { unsentBytes } = this
    const isDue = unsentBytes > 0 ? !this.isTaken || this.#connection.isFull : this.#isAnswered
    if (!isDue) this.#progress.deadlineMs = Infinity
    else if (!this.#progress.check(nowMs, unsentBytes, this.#connection.progress)) this.#cut()
  }

  onEnd(trailers: string): void {
    const body = this.#progress.take()
    const fields = trailers === '' ? null : fieldsOf(trailers)
    if (!this.#isHeadSent) this.#sendHead(body === null && fields === null)
    this.#isAnswered = true
    this.#stream.end(body, fields, this.#progress.whenDone(undefined))
    if (body !== null) this.#connection.onWritten(body.length)
    this.#leaveBody()
  }

  #sendHead(isWhole: boolean): void {
    const response = this.#response!
    this.#isHeadSent = true
    this.#record.status = response.status
    const fields = answerFields(response, this.#plan!, this.#connection.world.dateLine)
    this.#stream.respond(fields, isWhole)
  }

  onError(failure: UpstreamFailure): void {
    this.#record.failure = failure
    if (this.#isHeadSent) return this.#cut()
    this.#progress.drop()
    const answer = this.#connection.world.failureAnswer(failure, this)
    this.#answer(withLines(answer, this.#plan!.responseLines))
  }

  /** Ends the exchange from our side: with an answer if there is still room for one. */
  fail(refusal: Refusal): void {
    this.#isBroken = this.#call !== null && refusal.status < 500
    this.#call?.abort()
    this.body.fail(refusal.detail)
    this.#isDecided = true
    if (this.#isHeadSent) return this.#cut()
    this.#answer(this.#connection.world.refusalAnswer(refusal, askerOfHead(this.head)))
    this.body.unwanted?.stop()
  }

  /** A reset tells the client that the answer is not whole. */
  #cut(): void {
    this.#stream.close(this.isTaken ? ERROR.cancel : ERROR.internal)
  }

  onDeadline(nowMs: number): void {
    if (this.#progress.deadlineMs <= nowMs) this.#checkTaking(nowMs)
    this.body.unwanted?.onDeadline(nowMs)
    if (this.body.turn.deadlineMs > nowMs || this.#isOver) return
    this.body.turn.deadlineMs = Infinity
    this.fail(REFUSALS.bodyTimeout)
  }

  get deadlineMs(): number {
    return Math.min(this.body.deadlineMs, this.#progress.deadlineMs)
  }

  #onClose(): void {
    const { rstCode } = this.#stream
    if (this.isTaken) return this.#connection.forget(this, rstCode !== ERROR.none, rstCode)
    if (this.#isOver) return
    this.#isOver = true
    this.#isDecided = true
    this.#call?.abort()
    this.body.fail('the client is gone')
    const isCut = !this.#isAnswered || this.#stream.rstCode !== ERROR.none
    this.#connection.world.tellEnd(this, {
      status: this.#record.status,
      bytes: this.#progress.bytes,
      isCut,
      failure: this.#record.failure,
      upstreamMs: this.#record.upstreamMs,
    })
    // What the application has broken is not the client's doing.
    const isDear = (isCut || this.#isBroken) && this.#record.failure === null
    this.#connection.forget(this, isDear, this.#stream.rstCode)
  }
}
