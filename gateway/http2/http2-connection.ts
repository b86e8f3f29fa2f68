/** One HTTP/2 connection: streams in, exchanges out, and what its client may cost us. */
import type { TLSSocket } from 'node:tls'
import { LIMITS } from '../../shared/limits.ts'
import type { AddressUse } from '../wire/address-counts.ts'
import type { Idling } from '../wire/site-use.ts'
import type { Exchange } from '../wire/exchange.ts'
import type { Deadlined } from '../wire/deadlines.ts'
import { askerOfFields } from '../wire/asker.ts'
import { REFUSALS, type Refusal } from '../wire/refusals.ts'
import type { SecureAccepted } from '../tls/tls-listener.ts'
import { ParsedHead } from '../wire/parsed-head.ts'
import type { AnswerProgressWorld } from './answer-progress.ts'
import { AddressTurn } from '../wire/address-turn.ts'
import { Arrivals, type Arrival } from './arrivals.ts'
import { Throttle, ThrottledSender } from '../wire/throttle.ts'
import { ConnectionCosts } from './connection-costs.ts'
import { isSmall } from './forwarded.ts'
import { Http2Exchange } from './http2-exchange.ts'
import { RefusedStream } from './refused-stream.ts'
import { StreamShare } from './stream-share.ts'
import { UnreadBody } from './unread-body.ts'
import type { AbuseKind } from '../wire/protocol.ts'
import type { Cost, Http2World } from './world.ts'
import { ERROR } from './protocol/frames.ts'
import { ServerSession } from './protocol/session.ts'
import type { ServerStream } from './protocol/stream.ts'

export class Http2Connection implements Deadlined, Idling {
  readonly world: Http2World
  readonly peerAddress: string
  readonly namesNobody: boolean
  /** While exchanges are open every sweep looks at them; else when the connection is idle enough. */
  deadlineMs: number
  #idleSinceMs: number
  #sniHost: string
  readonly #socket: TLSSocket
  readonly #session: ServerSession
  readonly #exchanges = new Set<Http2Exchange>()
  readonly #uploads = new Set<Http2Exchange>()
  /** Sends small DATA frames, all its streams as one; of some of them nothing is taken for now. */
  readonly #small = new ThrottledSender(() => this.#takeSlowed())
  readonly #slowed = new Set<UnreadBody>()
  readonly #costs: ConnectionCosts
  readonly #use: AddressUse
  readonly #share: StreamShare
  readonly #begunMs: number
  readonly #turn: AddressTurn
  /** It may open few streams at once: more would only be turned away, each as dear as an answer. */
  #isNarrow: boolean
  readonly #arrivals: Arrivals
  /** Of answers: given to the streams, and what the streams still have of it, looked at now and then. */
  #writtenBytes = 0
  #unsentBytes = 0
  /** Of that, what its site has been told of. */
  #heldBytes = 0
  /** The client takes too little: nothing is read for it, and nothing new begun. */
  isFull = false
  readonly progress: AnswerProgressWorld
  /** When it was last looked at what the socket moves, and what that was. */
  #movedAtMs: number
  #movedBytes = 0
  #hasMoved = true
  #served = 0
  /** It takes no new streams. */
  isClosing = false
  #isGone = false

  constructor(world: Http2World, socket: TLSSocket, { peerAddress, ...from }: SecureAccepted) {
    this.world = world
    this.peerAddress = peerAddress
    this.namesNobody = from.namesNobody
    this.#sniHost = from.sniHost
    this.#socket = socket
    world.deadlines.add(this)
    const { nowMs } = world.deadlines
    this.deadlineMs = nowMs + world.options.timeouts.headMs
    this.#begunMs = this.#idleSinceMs = this.#movedAtMs = nowMs
    this.progress = {
      idleMs: world.options.timeouts.idleMs,
      idleMsMax: world.limits.http2StreamIdleMsMax,
      isMoving: (now) => this.#isMoving(now),
    }
    this.#use = world.options.addresses.useOf(peerAddress)
    this.#share = new StreamShare(world.limits, world.held, this.#use, () => this.#isExempt())
    const site = this.#isExempt() ? null : this.#use.site
    this.#turn = site === null ? new AddressTurn() : (site.requests ??= new AddressTurn())
    this.#arrivals = new Arrivals({
      turn: this.#turn,
      begin: (arrival) => this.#begin(arrival),
      onLeft: ({ stream }) => {
        this.#share.end()
        if (this.#isNarrow) this.#widen()
        this.#spendReset(stream.rstCode)
      },
    })
    this.#costs = new ConnectionCosts(world.limits, site, nowMs)
    this.#isNarrow = this.#share.isScarce
    const countControlFrame = () => this.#spend('controlFrames', 'control_frames')
    this.#session = new ServerSession(
      socket,
      this.#isNarrow ? world.narrowOptions : world.sessionOptions,
    )
      .on('stream', (stream, fields) => this.#onStream(stream, fields))
      .on('flood', (kind) => this.#endAbuse(kind))
      .on('ping', countControlFrame)
      .on('remoteSettings', countControlFrame)
      .on('idle', () => this.#spend('idleFrames', 'control_frames'))
      .on('refused', () => this.#spend('cancels', 'resets'))
      .on('close', () => this.#onClose())
    this.#session.setLocalWindowSize(LIMITS.http2ConnectionWindowBytes)
    // Without its half nobody can open a window any more: with or without GOAWAY it has left.
    socket.on('end', () => this.destroy())
    // Whoever comes late was on its way, and has a request to make: that one is answered.
    if (world.isDraining) this.deadlineMs = nowMs + LIMITS.lingerMsMax
  }

  #onStream(stream: ServerStream, fields: readonly string[]): void {
    // Reset in the same breath: there is nobody to answer, and it still has cost us.
    if (stream.closed) return this.#spendReset(stream.rstCode)
    if (!this.#share.hasRoom) return this.#turnAway(stream)
    const body = stream.endAfterHeaders ? null : new UnreadBody(stream, this)
    this.#served++
    const isLast = this.#served >= this.world.limits.requestsPerConnectionMax
    if (isLast || this.world.isDraining) this.drain()
    this.#share.begin()
    this.#arrivals.add({ stream, fields, body })
  }

  /** Its turn has come. */
  #begin({ stream, fields, body }: Arrival): void {
    this.#share.end()
    const { readHead, options } = this.world
    const head = readHead(fields, stream.endAfterHeaders)
    const isHead = head instanceof ParsedHead
    this.#turn.charge(isHead ? head.target.length : 0, isHead ? head.end : 0, fields.length / 2)
    if (!isHead) return this.#refuse(stream, head, fields)
    if (this.#sniHost === '') this.#sniHost = head.host
    if (head.host !== this.#sniHost) return this.#refuse(stream, REFUSALS.misdirected, fields)
    const isUpload = !stream.endAfterHeaders && !isSmall(head)
    if (isUpload && !this.#share.hasRoomForUpload) return this.#turnAway(stream)
    if (!this.#share.hasRoomForHead(head.end)) return this.#turnAway(stream)
    const exchange = new Http2Exchange(this, stream, head, this.world.clock.nowMs())
    if (body !== null) exchange.body.heldBy(body)
    this.#exchanges.add(exchange)
    this.#share.begin(head.end)
    this.#idleSinceMs = Infinity
    if (isUpload) this.#beginUpload(exchange)
    this.deadlineMs = 0
    try {
      options.handle(exchange)
    } catch (error) {
      options.onError?.(error)
      exchange.fail(REFUSALS.internal)
    }
  }

  keepAlive(afterMs: number): void {
    this.#socket.setKeepAlive(true, afterMs)
  }

  charge(requests: number): void {
    this.#turn.count(requests)
  }

  /** Also while a request waits for its turn. */
  get idleSinceMs(): number {
    return this.#arrivals.size > 0 ? Infinity : this.#idleSinceMs
  }

  /** Its address has as much as it may: the client may ask again, and not without end. */
  #turnAway(stream: ServerStream): void {
    stream.close(ERROR.refusedStream)
    this.#spend('resets', 'resets')
  }

  /** Asked for each small DATA frame of a body, beyond those that are free. */
  hasToWait(body: UnreadBody): boolean {
    if (this.#isExempt()) return false
    const { limits, clock } = this.world
    const throttle = (this.#use.site.smallDataFrames ??= new Throttle(
      limits.http2SmallDataFrames,
      clock,
    ))
    if (!this.#small.send(throttle)) this.#endAbuse('small_data_frames')
    if (this.#small.isWaiting) this.#slowed.add(body)
    return this.#small.isWaiting
  }

  forgetBody(body: UnreadBody): void {
    this.#slowed.delete(body)
  }

  #takeSlowed(): void {
    const bodies = [...this.#slowed]
    this.#slowed.clear()
    for (const body of bodies) body.goOn()
  }

  #refuse(stream: ServerStream, refusal: Refusal, fields: readonly string[]): void {
    const { options, refusalAnswer, guard } = this.world
    guard(() => options.onRefusal?.(refusal, this.peerAddress))
    // Not `#rest()`: what is refused does not keep a connection.
    const refused = new RefusedStream(this.world, stream, this.#share)
    refused.answer(refusalAnswer(refusal, askerOfFields(fields)), this.world)
    // Read and answered like any other, and in no turn of its site; on the other wire it is the last one.
    if (!this.#isExempt()) this.#spend('resets', 'resets')
  }

  #beginUpload(exchange: Http2Exchange): void {
    this.#uploads.add(exchange)
    this.#use.uploads++
  }

  /** The body is whole, or nobody's any more. */
  endUpload(exchange: Http2Exchange): void {
    if (this.#uploads.delete(exchange)) this.#use.uploads--
  }

  /**
   * The exchange is over. `isReset`: its stream ended before it had its answer, with that code, or with
   * an answer that its client has seen to while an application was at it.
   */
  forget(exchange: Http2Exchange, isReset: boolean, code: number): void {
    if (this.#exchanges.delete(exchange) && !exchange.isTaken) this.handOver(exchange)
    this.endUpload(exchange)
    if (this.#isNarrow) this.#widen()
    if (this.isFull) this.onTaken()
    else if (this.#heldBytes > 0) this.#count()
    if (this.#exchanges.size === 0) this.#rest()
    if (isReset) this.#spendReset(code)
  }

  handOver({ head }: Http2Exchange): void {
    this.#share.end(head.end)
  }

  #widen(): void {
    if (this.#share.isScarce || this.#session.closed || this.#session.destroyed) return
    this.#isNarrow = false
    this.#session.settings({ maxConcurrentStreams: this.world.limits.http2StreamsMax })
  }

  /** A balancer's connection is of many people. */
  #isExempt(): boolean {
    return this.world.options.isExempt?.(this.peerAddress) === true
  }

  // What the client does not take

  /** Only what looks like too much is counted exactly. */
  onWritten(bytes: number): void {
    this.#writtenBytes += bytes
    this.#unsentBytes += bytes
    if (this.isFull || this.#unsentBytes <= LIMITS.smallBodyBytesMax) return
    this.#count()
    if (this.#unsentBytes <= this.#unsentMax) return
    this.isFull = true
    for (const exchange of this.#exchanges) exchange.adjustReading()
  }

  /** Some stream has got rid of something. */
  readonly onTaken = (): void => {
    if (!this.isFull) return
    this.#count()
    if (this.#unsentBytes > this.#unsentMax / 2) return
    this.isFull = false
    for (const exchange of this.#exchanges) {
      if (this.isFull) return
      exchange.adjustReading()
    }
  }

  #count(): void {
    this.#unsentBytes = 0
    for (const exchange of this.#exchanges) this.#unsentBytes += exchange.unsentBytes
    this.#hold(this.#unsentBytes)
  }

  #hold(bytes: number): void {
    this.#share.holdUnsent(bytes - this.#heldBytes)
    this.#heldBytes = bytes
  }

  /** Who has taken much is given much at once, as far as its site has not too much of it. */
  get #unsentMax(): number {
    const takenBytes = this.#writtenBytes - this.#unsentBytes
    // Who says that it takes nothing yet is asked for nothing yet.
    const window = this.#session.remoteSettings.initialWindowSize
    const firstBytes = Math.min(
      LIMITS.http2UnsentBytesMin,
      Math.max(LIMITS.smallBodyBytesMax, 4 * window),
    )
    const asked = Math.min(LIMITS.http2UnsentBytesMax, firstBytes + takenBytes)
    return this.#share.unsentMax(asked, firstBytes, this.#heldBytes)
  }

  /**
   * A stream begins to wait. Where no other does, the quiet time before was of nobody's making:
   * what moves is measured from now on.
   */
  onWaiting(exchange: Http2Exchange): void {
    const { nowMs } = this.world.deadlines
    if (nowMs - this.#movedAtMs < this.progress.idleMs) return
    for (const other of this.#exchanges)
      if (other !== exchange && other.deadlineMs < Infinity && other.unsentBytes > 0) return
    this.#movedAtMs = nowMs
    this.#movedBytes = this.#sentBytes
    this.#hasMoved = true
  }

  /** Over the last idle time; more than answers to PING and SETTINGS amount to. */
  #isMoving(nowMs: number): boolean {
    const tookMs = nowMs - this.#movedAtMs
    if (tookMs >= this.world.options.timeouts.idleMs) {
      const sentBytes = this.#sentBytes
      const moved = sentBytes - this.#movedBytes
      this.#hasMoved = moved * 1000 >= LIMITS.progressBytesPerSecondMin * tookMs
      this.#movedAtMs = nowMs
      this.#movedBytes = sentBytes
    }
    return this.#hasMoved
  }

  get #sentBytes(): number {
    return this.#socket.bytesWritten - this.#socket.writableLength
  }

  eachInFlight(callback: (exchange: Exchange) => void): void {
    for (const exchange of this.#exchanges) if (!exchange.isTaken) callback(exchange)
  }

  #rest(): void {
    const { deadlines, options } = this.world
    this.#idleSinceMs = deadlines.nowMs
    this.deadlineMs =
      deadlines.nowMs + (this.isClosing ? LIMITS.lingerMsMax : options.timeouts.keepAliveMs)
  }

  /**
   * Rapid reset (CVE-2023-44487) opens and drops streams faster than we can stop working for them;
   * MadeYouReset (CVE-2025-8671) has us drop them. Each costs an upstream connection.
   */
  #spendReset(code: number): void {
    // Nobody but the client ends a stream so: a page that was left, the tiles of a map.
    this.#spend(code === ERROR.cancel ? 'cancels' : 'resets', 'resets')
  }

  #spend(cost: Cost, kind: AbuseKind): void {
    if (!this.#costs.spend(cost, this.world.clock.steadyMs())) this.#endAbuse(kind)
  }

  #endAbuse(kind: AbuseKind): void {
    if (this.#isGone || this.#session.destroyed) return
    this.world.guard(() => this.world.options.onAbuse?.(kind, this.peerAddress))
    this.#session.destroy(ERROR.enhanceYourCalm)
  }

  onDeadline(nowMs: number): void {
    if (this.#heldBytes > 0) this.#count()
    if (this.#exchanges.size > 0)
      for (const exchange of this.#exchanges) {
        if (exchange.deadlineMs <= nowMs) exchange.onDeadline(nowMs)
      }
    else if (this.#arrivals.size > 0) return
    else if (this.isClosing) this.destroy()
    else this.drain()
  }

  /**
   * Takes no new streams: GOAWAY names the last one that was, and what the client has sent beyond
   * it may be sent again elsewhere (RFC 9113 section 6.8). There is no notice ahead of that:
   * a client that asks on has its answer sooner elsewhere.
   */
  drain(): void {
    if (this.isClosing || this.#isGone) return
    this.isClosing = true
    this.deadlineMs = this.#exchanges.size > 0 ? 0 : this.world.deadlines.nowMs + LIMITS.lingerMsMax
    for (const exchange of this.#exchanges) exchange.body.unwanted?.stop()
    this.#session.close()
  }

  #onClose(): void {
    if (this.#isGone) return
    this.#isGone = true
    this.deadlineMs = Infinity
    this.world.deadlines.delete(this)
    this.#small.leave()
    this.#hold(0)
    const { nowMs } = this.world.deadlines
    if (!this.#isExempt()) this.#use.site.noteEnded(nowMs - this.#begunMs, nowMs)
    this.world.forget(this)
  }

  destroy(): void {
    this.#session.destroy(ERROR.none)
    // A session that was closing would wait for its client to take what is on its way.
    this.#socket.destroy()
    this.#onClose()
  }
}
