/**
 * One request of one connection: what the pipeline decides on, and both halves of carrying that
 * out. Towards the upstream it is the sink of the response.
 */
import { performance } from 'node:perf_hooks'
import { LIMITS } from '../../shared/limits.ts'
import { BodyTooLarge, BodyUnreadable, upstreamRequest } from '../wire/exchange.ts'
import type { Exchange, ForwardPlan, OwnAnswer, TakenSocket } from '../wire/exchange.ts'
import { GatheredBytes } from '../wire/gathered-bytes.ts'
import type { ResponseSink, UpstreamCall, UpstreamFailure } from '../wire/upstream-call.ts'
import { BODY, type ResponseHead } from '../wire/response-head.ts'
import { answerText, isSafe, plainAnswer, withLines } from '../wire/answer.ts'
import { BodyCollector } from '../wire/body-collector.ts'
import { ExchangeRecord } from '../wire/exchange-record.ts'
import { BODY_USE } from '../wire/body-use.ts'
import type { ChunkedSink } from '../wire/chunked.ts'
import { askerOfHead } from '../wire/asker.ts'
import { Lingering } from '../wire/lingering.ts'
import { REFUSALS, type Refusal } from '../wire/refusals.ts'
import type { ParsedHead } from '../wire/parsed-head.ts'
import type { ClientWriter } from '../wire/client-writer.ts'
import type { AnswerStall } from './answer-stall.ts'
import type { RequestBody } from './request-body.ts'
import type { Http1World } from './world.ts'
import { framingLine, responseLines, STRICT_TRANSPORT_LINE } from '../wire/response-lines.ts'

/** What an exchange has of its connection. */
interface ExchangeConnection {
  readonly world: Http1World
  readonly peerAddress: string
  readonly isSecure: boolean
  readonly namesNobody: boolean
  readonly body: RequestBody
  readonly writer: ClientWriter
  readonly stall: AnswerStall
  /** Which request of the connection this is. */
  readonly served: number
  readonly hasBytes: boolean
  pump(): void
  charge(requests: number): void
  takeBody(text: string): string | undefined
  release(): TakenSocket
  /** The answer is written: on to the next request, or the end. */
  finish(exchange: Http1Exchange, staysOpen: boolean): void
  /** Ends the answer early; cleanly only where the client takes an end for one. */
  abort(isReset: boolean): void
  destroy(): void
}

export class Http1Exchange implements Exchange, ResponseSink, ChunkedSink {
  readonly head: ParsedHead
  readonly startedMs: number
  readonly beganMs = performance.now()
  context: unknown = undefined
  readonly #connection: ExchangeConnection
  readonly #record = new ExchangeRecord()
  #bodyUse: number = BODY_USE.held
  #gathered: GatheredBytes | null = null
  #collector: BodyCollector | null = null
  #hasRoomUpstream = true
  #plan: ForwardPlan | null = null
  #call: UpstreamCall | null = null
  /** Somebody has decided what becomes of this request; later decisions are ignored. */
  #isDecided = false
  /** Bytes of the final answer are with the socket. */
  #isOnTheWire = false
  #isAnswered = false
  #staysOpen = false
  /** The response has no length and the client takes chunks: each piece becomes one. */
  #makesChunks = false
  #isOpenEnded = false
  #isOver = false
  /** Of a body that has its answer, while the connection is to stay: how long it is read on. */
  #unwanted: Lingering | null = null

  constructor(connection: ExchangeConnection, head: ParsedHead, startedMs: number) {
    this.#connection = connection
    this.head = head
    this.startedMs = startedMs
  }

  get peerAddress(): string {
    return this.#connection.peerAddress
  }
  get isSecure(): boolean {
    return this.#connection.isSecure
  }
  get namesNobody(): boolean {
    return this.#connection.namesNobody
  }
  get wantsBody(): boolean {
    return this.#bodyUse !== BODY_USE.held && this.#hasRoomUpstream
  }
  get wantsRawChunks(): boolean {
    return !this.head.isHttp10
  }

  charge(requests: number): void {
    this.#connection.charge(requests)
  }

  respond(answer: OwnAnswer): void {
    if (this.#isDecided) return
    this.#isDecided = true
    const { body } = this.#connection
    const isOnItsWay = !this.head.expectsContinue || this.#connection.hasBytes
    const staysOpen = this.#mayStayOpen() && (body.isDone || (body.isWorthDraining && isOnItsWay))
    if (staysOpen && !body.isDone) this.#leaveBody()
    this.#answer(answer, staysOpen)
    if (this.isLeavingBody) this.#connection.pump()
  }

  forward(plan: ForwardPlan): void {
    if (this.#isDecided) return
    this.#isDecided = true
    this.#plan = plan
    const { body } = this.#connection
    if (body.isDone) return this.#startCall('')
    if (body.isSmall) {
      const text = this.#connection.takeBody(this.head.bodyText)
      if (text !== undefined) return this.#startCall(text)
    }
    this.#bodyUse = BODY_USE.gathered
    this.#gathered = new GatheredBytes(this.head.bodyLength)
    this.#sendContinue()
    // What is here goes with the head; a small body is waited for, which also keeps a slow
    // client from holding an upstream connection.
    if (!this.#connection.hasBytes && !body.isSmall) this.#startGathered()
    this.#connection.pump()
  }

  readBody(bytesMax: number): Promise<Buffer> {
    const { body } = this.#connection
    if (this.#isOver) return Promise.reject(new BodyUnreadable('the client is gone'))
    if (body.left > bytesMax) return Promise.reject(new BodyTooLarge('the body is too large'))
    const collector = new BodyCollector(bytesMax)
    this.#collector = collector
    this.#bodyUse = BODY_USE.collected
    body.decode()
    if (body.isDone) collector.end()
    else {
      this.#sendContinue()
      this.#connection.pump()
    }
    return collector.body
  }

  get isOpenEnded(): boolean {
    return this.#isOpenEnded && this.#connection.body.isDone
  }

  recall(): boolean {
    if (this.#isOver || this.#isAnswered) return false
    this.#call?.abort()
    if (this.#isOnTheWire) {
      this.#connection.abort(!this.#makesChunks && this.head.isHttp10)
      return false
    }
    this.#connection.writer.discard()
    this.#gathered = null
    this.#bodyUse = BODY_USE.held
    this.#hasRoomUpstream = true // of the call that is over
    this.#isDecided = false
    return true
  }

  takeSocket(): TakenSocket {
    this.#isDecided = true
    this.#isOver = true
    return this.#connection.release()
  }

  #sendContinue(): void {
    if (!this.head.expectsContinue || this.#connection.hasBytes) return
    this.#connection.writer.text('HTTP/1.1 100 Continue\r\n\r\n')
    this.#connection.writer.flush()
  }

  /** For another request, RFC 9112 section 9.3. */
  #mayStayOpen(): boolean {
    const { served, world } = this.#connection
    const isLast = world.drainGraceMs >= 0 || served >= world.limits.requestsPerConnectionMax
    return this.head.keepsAlive && !isLast
  }

  get #connectionLine(): string {
    if (!this.#staysOpen) return 'Connection: close\r\n'
    return this.head.isHttp10 ? 'Connection: keep-alive\r\n' : ''
  }

  #lastLines(): string {
    return this.isSecure ? STRICT_TRANSPORT_LINE + this.#connectionLine : this.#connectionLine
  }

  #answer(asked: OwnAnswer, staysOpen: boolean): void {
    const answer = isSafe(asked) ? asked : plainAnswer(REFUSALS.internal)
    this.#staysOpen = staysOpen
    this.#record.status = answer.status
    this.#isOnTheWire = true
    const { writer, world } = this.#connection
    writer.utf8(answerText(answer, this.head.method, world.dateLine(), this.#lastLines()))
    this.#isAnswered = true
    this.#settle()
  }

  /** The application has begun to answer: from here on the two talk at the pace that they like. */
  get hasAnswer(): boolean {
    return this.#isOnTheWire
  }

  // The body of the request

  /** It has its answer, and little is still to come. */
  #leaveBody(): void {
    this.#bodyUse = BODY_USE.discarded
    this.#unwanted = new Lingering(this.#connection.world, true)
    this.#unwanted.onAnswered()
  }

  get isLeavingBody(): boolean {
    return this.#unwanted !== null
  }

  /** Until when more of the body is waited for; what nobody wants has a time of its own. */
  bodyDueMs(dueMs: number): number {
    return this.#unwanted?.deadlineMs ?? dueMs
  }

  #startCall(firstBody: string): void {
    const isBodyWhole = this.#connection.body.isDone && this.#gathered === null
    const request = upstreamRequest(this.head, this.#plan!, firstBody, isBodyWhole, true)
    this.#bodyUse = BODY_USE.forwarded
    this.#record.sent()
    this.#call = this.#plan!.upstream.request(request, this)
  }

  /** With what has arrived so far: joined with the head if it is little. */
  #startGathered(): void {
    const bytes = this.#gathered!.take()
    const { body } = this.#connection
    if (bytes.length <= LIMITS.smallBodyBytesMax) {
      this.#gathered = null
      return this.#startCall(bytes.toString('latin1'))
    }
    this.#startCall('')
    this.#gathered = null
    this.#hasRoomUpstream = this.#call!.write(bytes)
    if (body.isDone) this.#call!.end()
  }

  onBodyRun(buffer: Buffer, from: number, to: number): void {
    if (this.#bodyUse === BODY_USE.discarded) return void this.#unwanted!.discard(to - from)
    // The bytes are borrowed for the time of the call.
    if (this.#bodyUse === BODY_USE.forwarded) {
      this.#hasRoomUpstream = this.#call!.writeBorrowed(buffer, from, to)
      return
    }
    if (this.#bodyUse === BODY_USE.gathered) this.#gathered!.add(buffer, from, to)
    else this.#collector!.add(buffer, from, to)
  }

  onBodyText(text: string): void {
    if (this.#bodyUse === BODY_USE.forwarded) this.#hasRoomUpstream = this.#call!.writeText(text)
    else if (this.#bodyUse === BODY_USE.gathered) this.#gathered!.addText(text)
  }

  /** All that had arrived of the body has been taken. */
  onBodyProgress(): void {
    const { body } = this.#connection
    if (body.isBroken) return this.onBodyBroken()
    if (this.#bodyUse === BODY_USE.gathered) {
      if (body.isDone || body.isChunked || this.head.bodyLength > LIMITS.smallBodyBytesMax)
        this.#startGathered()
    } else if (body.isDone) {
      if (this.#bodyUse === BODY_USE.forwarded) this.#call!.end()
      else this.#collector?.end()
    }
    if (body.isDone) this.#settle()
  }

  /** No valid chunked coding, or the client ended in the middle of it. */
  onBodyBroken(): void {
    this.fail(REFUSALS.body)
  }

  onBodyTimeout(): void {
    this.fail(REFUSALS.bodyTimeout)
  }

  /** Ends the exchange from our side: with an answer if there is still room for one. */
  fail(refusal: Refusal): void {
    this.#call?.abort()
    this.#collector?.fail(new BodyUnreadable(refusal.detail))
    this.#isDecided = true
    if (this.isLeavingBody) return this.#connection.finish(this, false)
    if (this.#isOnTheWire) return this.#connection.destroy()
    this.#connection.writer.discard()
    this.#answer(this.#connection.world.refusalAnswer(refusal, askerOfHead(this.head)), false)
  }

  onDrain(): void {
    this.#hasRoomUpstream = true
    this.#connection.pump()
  }

  // The response

  onInformational(status: number, reason: string, lines: string): void {
    if (this.head.isHttp10) return
    this.#connection.writer.text(`HTTP/1.1 ${status} ${reason}\r\n${lines}\r\n`)
    this.#connection.writer.flush()
  }

  onHead(head: ResponseHead): void {
    this.#record.headCame()
    const { body, writer, world } = this.#connection
    const isOpenEnded = head.framing === BODY.chunked || head.framing === BODY.untilClose
    this.#isOpenEnded = isOpenEnded
    this.#makesChunks = head.framing === BODY.untilClose && !this.head.isHttp10
    this.#staysOpen = this.#mayStayOpen() && body.isDone && !(isOpenEnded && this.head.isHttp10)
    this.#record.status = head.status
    const framing = framingLine(head, this.head.isHttp10)
    const lines = responseLines(head, this.#plan!, this.isSecure, world.dateLine)
    const start = `HTTP/1.1 ${head.status} ${head.reason}\r\n`
    writer.text(`${start}${lines}${framing}${this.#connectionLine}\r\n`)
  }

  onData(buffer: Buffer, from: number, to: number): void {
    const { writer } = this.#connection
    if (this.#makesChunks) writer.text(`${(to - from).toString(16)}\r\n`)
    // The head with it: no other answer can come behind that.
    if (writer.data(buffer, from, to)) this.#isOnTheWire = true
    if (this.#makesChunks) writer.text('\r\n')
  }

  onText(text: string): void {
    this.#connection.writer.text(text)
  }

  onReadEnd(): void {
    this.#isOnTheWire = true
    if (this.#connection.writer.flush()) return
    this.#call!.pause()
    this.#connection.stall.watch()
  }

  onClientDrain(): void {
    this.#call?.resume()
  }

  onEnd(): void {
    const { writer } = this.#connection
    if (this.#makesChunks) writer.text('0\r\n\r\n')
    this.#isOnTheWire = true
    if (!writer.flush()) this.#connection.stall.watch()
    this.#isAnswered = true
    this.#settle()
  }

  onError(failure: UpstreamFailure): void {
    this.#record.failure = failure
    const { world, writer } = this.#connection
    if (this.#isOnTheWire) return this.#connection.abort(!this.#makesChunks && this.head.isHttp10)
    writer.discard()
    const answer = world.failureAnswer(failure, this)
    const staysOpen = this.#connection.body.isDone && this.#mayStayOpen()
    this.#answer(withLines(answer, this.#plan!.responseLines), staysOpen)
  }

  // The end

  onClientGone(): void {
    this.#call?.abort()
    this.#collector?.fail(new BodyUnreadable('the client is gone'))
    this.#end(!this.#isAnswered)
  }

  /** Both halves are through, or the connection does not stay open for the other one. */
  #settle(): void {
    if (!this.#isAnswered) return
    this.#end(false)
    if (this.#staysOpen && !this.#connection.body.isDone) return
    this.#connection.finish(this, this.#staysOpen)
  }

  #end(isCut: boolean): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#isDecided = true
    const { world, writer } = this.#connection
    const status = this.#isOnTheWire ? this.#record.status : 0
    world.tellEnd(this, {
      status,
      bytes: writer.bytes,
      isCut,
      failure: this.#record.failure,
      upstreamMs: this.#record.upstreamMs,
    })
  }
}
