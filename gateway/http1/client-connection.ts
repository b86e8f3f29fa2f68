/**
 * One client connection: heads in, one exchange at a time, answers out in order. Listeners are
 * attached once; all that changes from request to request is state.
 */
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { LIMITS } from '../../shared/limits.ts'
import { PROGRAM } from '../../shared/sign-in/bad-request.ts'
import { readAsStream, readInto } from '../wire/borrowed-reads.ts'
import type { Idling } from '../wire/site-use.ts'
import type { Exchange, TakenSocket } from '../wire/exchange.ts'
import type { AddressTurn } from '../wire/address-turn.ts'
import { answerText } from '../wire/answer.ts'
import { askerOfHead, askerOfText } from '../wire/asker.ts'
import { AnswerStall } from './answer-stall.ts'
import { BegunHead } from '../wire/begun-head.ts'
import { BodyPace } from '../wire/body-pace.ts'
import type { Deadlined } from '../wire/deadlines.ts'
import { HeldBytes } from './held-bytes.ts'
import { Http1Exchange } from './http1-exchange.ts'
import { LastAnswer } from './last-answer.ts'
import { REFUSALS, type Refusal } from '../wire/refusals.ts'
import { ClientWriter } from '../wire/client-writer.ts'
import { RequestBody } from './request-body.ts'
import { STRICT_TRANSPORT_LINE } from '../wire/response-lines.ts'
import { SmallReads } from '../wire/small-reads.ts'
import { ParsedHead } from '../wire/parsed-head.ts'
import { parseRequestHead } from './request-head.ts'
import type { Http1World } from './world.ts'

const SWITCHING =
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'

const CR = 13
const LF = 10

interface From extends Pick<Exchange, 'peerAddress' | 'isSecure' | 'namesNobody'> {
  readonly sniHost: string | undefined
}

export class ClientConnection implements Deadlined, Idling {
  readonly world: Http1World
  readonly socket: Socket
  readonly peerAddress: string
  readonly isSecure: boolean
  readonly namesNobody: boolean
  #sniHost: string | undefined
  readonly body = new RequestBody()
  readonly #pace: BodyPace
  readonly writer: ClientWriter
  readonly stall: AnswerStall
  deadlineMs: number
  isGone = false
  served = 0
  #exchange: Http1Exchange | null = null
  #previousHead: ParsedHead | null = null
  /** What has arrived of a head. */
  readonly #begun = new BegunHead(LIMITS.headBytesMax, () => this.#lookAtHead())
  readonly #small: SmallReads
  /** Arrived and not yet looked at: nobody wants the body yet, or a request before it runs. */
  readonly #held = new HeldBytes()
  #isAdvancing = false
  readonly #turn: AddressTurn
  #isPaused = false
  /** The client has sent all that it will. */
  hasEnded = false
  #lastAnswer: LastAnswer | null = null
  #idleSinceMs: number

  constructor(world: Http1World, socket: Socket, { peerAddress, sniHost, ...from }: From) {
    this.world = world
    this.socket = socket
    this.peerAddress = peerAddress
    this.isSecure = from.isSecure
    this.namesNobody = from.namesNobody
    this.#sniHost = sniHost
    this.writer = new ClientWriter(socket, world.spare)
    this.stall = new AnswerStall(socket, world, () => this.destroy())
    world.deadlines.add(this)
    this.#idleSinceMs = world.deadlines.nowMs
    this.#pace = new BodyPace(this.#idleSinceMs)
    this.#small = new SmallReads(world, peerAddress, () => this.adjustReading())
    this.#turn = world.turnOf(peerAddress)
    this.deadlineMs = this.#idleSinceMs + world.timeouts.headMs
    socket.setNoDelay(true)
    if (!readInto(socket, world.readBuffer, this.#onRead)) socket.on('data', this.#onData)
    socket
      .on('drain', this.#onDrain)
      .on('end', this.#onEnd)
      .on('error', this.#onClose)
      .on('close', this.#onClose)
    // What somebody has read before us and put back, as behind a PROXY header.
    for (let early: Buffer | null; (early = socket.read() as Buffer | null) !== null;)
      process.nextTick(this.#onData, early)
  }

  readonly #onData = (chunk: Buffer): void => {
    if (!this.isGone) this.#onRead(chunk.length, chunk)
  }

  /** The buffer is everybody's: what is not used up in here is copied. */
  readonly #onRead = (bytes: number, buffer: Buffer): boolean => {
    if (this.#lastAnswer !== null) return this.#lastAnswer.discard(bytes)
    if (!this.#begun.isEmpty) this.#begun.add(buffer, bytes)
    else {
      this.#held.add(buffer, bytes)
      this.#advance()
      this.#held.own(buffer)
    }
    // A request that is small as a whole is no piece of anything.
    if (!this.isGone && this.#isInMiddle) this.#countRead(bytes)
    return !this.isGone && this.#mayRead
  }

  get #mayRead(): boolean {
    return this.#lastAnswer?.mayRead ?? !this.#isPaused
  }

  #countRead(bytes: number): void {
    if (!this.#small.count(bytes)) this.destroy()
    else if (this.#small.isWaiting) this.adjustReading()
  }

  get #isInMiddle(): boolean {
    return !this.#begun.isEmpty || this.#held.buffer !== null || !this.body.isDone
  }

  #lookAtHead(): void {
    if (this.isGone || this.#begun.isEmpty) return
    const bytes = this.#begun.take()
    this.#held.set(bytes, 0, bytes.length)
    this.#advance()
  }

  /** The request that is being answered. */
  get exchange(): Http1Exchange | null {
    return this.#exchange
  }

  get idleSinceMs(): number {
    const isBusy = this.#exchange !== null || this.#lastAnswer !== null || this.#isInMiddle
    const isIdle = !isBusy && !this.isGone && this.socket.writableLength === 0
    return isIdle ? this.#idleSinceMs : Infinity
  }

  get hasBytes(): boolean {
    return this.#held.buffer !== null
  }

  /** Goes as far as the bytes that are here allow: heads, bodies, the next heads. */
  #advance(): void {
    if (this.#isAdvancing) return
    this.#isAdvancing = true
    while (this.#held.buffer !== null && !this.isGone && this.#lastAnswer === null) {
      if (this.#exchange === null && !this.#turn.take(this.pump)) break
      if (this.#exchange === null ? !this.#readHead() : !this.#readBody(this.#exchange)) break
    }
    this.#isAdvancing = false
    this.adjustReading()
  }

  #readHead(): boolean {
    // A client that does not read its answers gets no further ones.
    if (this.socket.writableNeedDrain) return false
    const held = this.#held.buffer!
    const { to } = this.#held
    let { at } = this.#held
    // RFC 9112 section 2.2: one empty line before a request is nothing.
    if (held[at] === CR && held[at + 1] === LF && at + 1 < to) at += 2
    const head = parseRequestHead(held, at, to, this.#previousHead)
    if (head === null) return this.#keepHead()
    if (!(head instanceof ParsedHead)) {
      this.refuse(
        head,
        askerOfText(held.toString('latin1', at, Math.min(to, at + LIMITS.headBytesMax))),
      )
      return false
    }
    if (this.#sniHost === '') this.#sniHost = head.host
    if (this.#sniHost !== undefined && this.#sniHost !== head.host) {
      this.refuse(REFUSALS.misdirected, askerOfHead(head))
      return false
    }
    this.#held.consume(head.end)
    this.#turn.charge(head.target.length, head.end - at, 0)
    this.#begin(head)
    return true
  }

  /** The head is not all here: its time runs from its first byte. */
  #keepHead(): false {
    const { world } = this
    if (!this.#begun.isBegun) this.deadlineMs = world.deadlines.nowMs + world.timeouts.headMs
    this.#begun.keep(this.#held.buffer!, this.#held.at, this.#held.to)
    this.#held.clear()
    if (this.hasEnded) this.destroy()
    return false
  }

  #begin(head: ParsedHead): void {
    this.#previousHead = head
    this.#begun.isBegun = false
    this.deadlineMs = Infinity
    this.served++
    this.body.begin(head.bodyLength)
    if (!this.body.isDone) this.#pace.begin(this.world.deadlines.nowMs)
    this.writer.begin()
    const exchange = new Http1Exchange(this, head, this.world.clock.nowMs())
    this.#exchange = exchange
    try {
      this.world.options.handle(exchange)
    } catch (error) {
      this.world.options.onError?.(error)
      exchange.fail(REFUSALS.internal)
    }
  }

  #readBody(exchange: Http1Exchange): boolean {
    if (this.body.isDone || !exchange.wantsBody) return false
    const held = this.#held.buffer!
    const { at: from, to } = this.#held
    const end = this.body.feed(held, from, to, exchange)
    if (this.#held.buffer !== held) return false
    this.#held.consume(end)
    exchange.onBodyProgress()
    this.#checkPace(exchange, end - from)
    if (this.hasEnded) this.#checkCut(exchange)
    return true
  }

  #checkPace(exchange: Http1Exchange, bytes: number): void {
    if (this.body.isDone || this.#exchange !== exchange) return
    const { deadlines, timeouts } = this.world
    if (this.#pace.isTooSlow(bytes, deadlines.nowMs, timeouts.idleMs) && !exchange.hasAnswer)
      exchange.onBodyTimeout()
  }

  /** The whole body as text, if it is all here already; `known` is that, or ''. */
  takeBody(known: string): string | undefined {
    return this.body.takeFrom(this.#held, known)
  }

  charge(requests: number): void {
    this.#turn.count(requests)
  }

  /** Somebody wants the body now, has room again, or gives the next request its turn. */
  readonly pump = (): void => this.#advance()

  adjustReading(): void {
    if (this.isGone) return
    if (this.#lastAnswer !== null) return this.#lastAnswer.readOn()
    const exchange = this.#exchange
    const { deadlines, timeouts } = this.world
    const isSlowed = this.#small.isWaiting
    const isWaitingForBody = exchange?.wantsBody === true && !this.body.isDone
    const isNext = exchange === null || isWaitingForBody || this.body.isDone
    const wantsMore = !isSlowed && isNext && this.#held.buffer === null
    if (exchange !== null) {
      const waitMs = isSlowed ? LIMITS.throttledMsMax : timeouts.idleMs
      this.deadlineMs = isWaitingForBody ? exchange.bodyDueMs(deadlines.nowMs + waitMs) : Infinity
    }
    if (wantsMore === !this.#isPaused) return
    this.#isPaused = !wantsMore
    // While it waited for the application, or for us, it was not the sender's turn.
    if (isWaitingForBody) this.#pace.begin(deadlines.nowMs)
    if (wantsMore) this.socket.resume()
    else this.socket.pause()
  }

  /** The answer is written and the body has been read: on to the next request, or the end. */
  finish(exchange: Http1Exchange, staysOpen: boolean): void {
    if (this.#exchange !== exchange) return
    this.#exchange = null
    if (this.isGone) return
    if (!staysOpen || (this.hasEnded && this.#held.buffer === null))
      return this.#linger(!this.body.isDone && !exchange.isLeavingBody)
    this.#idleSinceMs = this.world.deadlines.nowMs
    const { keepAliveMs } = this.world.timeouts
    const { drainGraceMs } = this.world
    const openMs = drainGraceMs >= 0 ? Math.min(drainGraceMs, keepAliveMs) : keepAliveMs
    this.deadlineMs = this.#idleSinceMs + openMs
    this.#advance()
  }

  /** Answers a head that is none, and closes. */
  refuse(refusal: Refusal, asker = PROGRAM): void {
    this.world.guard(() => this.world.options.onRefusal?.(refusal, this.peerAddress))
    const answer = this.world.refusalAnswer(refusal, asker)
    const lastLines = `${this.isSecure ? STRICT_TRANSPORT_LINE : ''}Connection: close\r\n`
    this.socket.write(answerText(answer, '', this.world.dateLine(), lastLines))
    this.#linger(true)
  }

  /** Sends FIN and reads on, so that the answer is not lost to a reset. */
  #linger(mayBeSending: boolean): void {
    this.#held.clear()
    this.#begun.take()
    this.#exchange = null
    this.#lastAnswer = new LastAnswer(this, this.#small, mayBeSending)
    this.#lastAnswer.begin()
  }

  readonly #onDrain = (): void => {
    this.stall.rest()
    if (this.#exchange !== null) this.#exchange.onClientDrain()
    else this.#advance()
  }

  readonly #onEnd = (): void => {
    this.hasEnded = true
    if (this.#lastAnswer !== null) return
    this.#lookAtHead()
    if (this.isGone || this.#lastAnswer !== null) return
    const exchange = this.#exchange
    if (exchange !== null) return this.#checkCut(exchange)
    // Requests that wait for their turn, or for a reader of answers, are still answered.
    if (this.#held.buffer !== null) return
    this.#linger(false)
  }

  /** The client has ended: what of the body is not here will not come. */
  #checkCut(exchange: Http1Exchange): void {
    if (this.#exchange === exchange && this.#held.buffer === null && !this.body.isDone)
      exchange.onBodyBroken()
  }

  readonly #onClose = (): void => this.destroy()

  onDeadline(nowMs: number): void {
    if (this.#lastAnswer !== null) return this.destroy()
    const exchange = this.#exchange
    if (exchange !== null) return exchange.onBodyTimeout()
    if (!this.#begun.isEmpty) return this.refuse(REFUSALS.headTimeout)
    const { idleMs } = this.world.timeouts
    // A slow reader may still be taking the last answer.
    if (this.socket.writableLength > 0 && nowMs - this.#idleSinceMs < idleMs * 2)
      this.deadlineMs = nowMs + idleMs
    else this.destroy()
  }

  drain(): void {
    if (this.#lastAnswer !== null) return this.#lastAnswer.onDraining()
    if (this.#exchange?.isLeavingBody) return this.finish(this.#exchange, false)
    if (this.#exchange !== null || this.#isInMiddle) return
    const closesMs = this.#idleSinceMs + this.world.drainGraceMs
    if (closesMs <= this.world.deadlines.nowMs) this.#linger(false)
    else this.deadlineMs = Math.min(this.deadlineMs, closesMs)
  }

  /** Hands the socket to somebody else, with what was read beyond the head. */
  release(): TakenSocket {
    const { buffer, at, to } = this.#held
    const leftover = Buffer.from(buffer?.subarray(at, to) ?? [])
    this.#held.clear()
    this.#exchange = null
    this.isGone = true
    this.deadlineMs = Infinity
    this.world.deadlines.delete(this)
    this.stall.rest()
    this.socket.pause()
    this.socket
      .off('data', this.#onData)
      .off('drain', this.#onDrain)
      .off('end', this.#onEnd)
      .off('error', this.#onClose)
      .off('close', this.#onClose)
      .on('close', () => this.world.forget(this))
    readAsStream(this.socket)
    const { socket } = this
    const open = (lines: string): number => {
      const head = `${SWITCHING}${lines}\r\n`
      socket.write(head, 'latin1')
      return head.length
    }
    return { socket, leftover, reads: this.#small, open }
  }

  /** The answer cannot be finished. A reset, where a plain end would look like its end. */
  abort(needsReset: boolean): void {
    if (needsReset && !this.isGone && !(this.socket instanceof TLSSocket))
      this.socket.resetAndDestroy()
    this.destroy()
  }

  destroy(): void {
    if (this.isGone) return
    this.isGone = true
    this.deadlineMs = Infinity
    this.world.deadlines.delete(this)
    this.stall.rest()
    this.#small.leave()
    this.socket.destroy()
    this.#held.clear()
    const exchange = this.#exchange
    this.#exchange = null
    exchange?.onClientGone()
    this.world.forget(this)
  }
}
