/**
 * The client's end of a WebSocket. http-proxy-3 pipes it to the application's socket and back; the
 * client's own socket is attached once the application has agreed. All bytes of both directions
 * pass here, so here a frame of ours can be put between two of theirs.
 */
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { SteadyClock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { ClientSocket, TakenSocket } from '../wire/exchange.ts'
import { GatheredBytes } from '../wire/gathered-bytes.ts'
import type { Deadlined, Deadlines } from '../wire/deadlines.ts'
import { gatherInTurn } from '../wire/write-turns.ts'
import { FrameTracker, closeFrame, type Ending } from './frames.ts'

/**
 * Nobody has to say anything on a WebSocket, so one that has vanished without a word is only found by
 * asking: by the kernel, behind so long a silence, and ten times in as many seconds.
 */
const KEPT_ALIVE_MS = 60_000
/** What waits for an application goes on in pieces of so much: one of a byte costs four hundred. */
const JOINED_BYTES = 4096
/** Up to here a piece is rather copied than kept. */
const COPIED_BYTES = 1024

type Done = (error?: Error | null) => void

interface TunnelWorld {
  readonly deadlines: Deadlines
  readonly clock: SteadyClock
  /** How long one side may take none of what the other has sent. */
  readonly idleMs: number
}

export class Tunnel extends Duplex implements Deadlined {
  deadlineMs = Infinity
  /** When the client last sent a part of a message, by the steady clock. */
  activeMs: number
  /** To the client, head included. */
  bytes = 0
  /** It was we who ended it. */
  isCut = false
  readonly #world: TunnelWorld
  readonly #fromClient = new FrameTracker()
  readonly #toClient = new FrameTracker()
  #client: ClientSocket | null = null
  #taken: TakenSocket | null = null
  /** Of the client, for the application. */
  readonly #gathered = new GatheredBytes()
  #upstream: Socket | null = null
  /** Said instead of the carrier's head, which has not been through our reader; null: it has been said. */
  #linesDue: string | null = ''
  #awaitingRoom: Done | null = null
  /** The application's socket has enough of it. */
  #isFull = true
  /** It has something that the kernel has not taken; told when that is taken. */
  #isTakingAwaited = false
  #hasClientEnded = false
  /** The application has ended, and the client has been given all that it said. */
  #isAllSaid = false

  constructor(world: TunnelWorld) {
    super({ allowHalfOpen: true, autoDestroy: false })
    this.#world = world
    this.activeMs = world.clock.steadyMs()
  }

  /** `lines` are of the answer that the client gets first. */
  attach(taken: TakenSocket, upstream: Socket, lines: string): void {
    const { socket: client, leftover, reads } = taken
    this.#client = client
    this.#taken = taken
    reads.onGoOn = () => this.#readOn()
    this.#upstream = upstream
    this.#linesDue = lines
    client
      .on('data', this.#onClientData)
      .on('drain', this.#onClientDrain)
      .on('end', this.#onClientEnd)
      .on('timeout', this.#onClientGone)
      .on('error', this.#onClientGone)
      .on('close', this.#onClientGone)
    upstream.on('timeout', () => upstream.destroy())
    for (const socket of [client, upstream]) socket.setKeepAlive(true, KEPT_ALIVE_MS)
    this.#world.deadlines.add(this)
    if (leftover.length > 0) this.#onClientData(leftover)
    if (client.destroyed) this.destroy()
    // It has ended while the application was asked, which is said once: nobody would hear of it any more.
    else if (client.readableEnded) this.#onClientEnd()
  }

  // From the client to the application

  readonly #onClientData = (chunk: Buffer): void => {
    const isSmall = chunk.length < LIMITS.smallReadBytes
    if (this.#isDropping) return this.#drop(isSmall)
    if (this.#fromClient.scan(chunk)) this.activeMs = this.#world.clock.steadyMs()
    const { reads } = this.#taken!
    if (isSmall && this.#fromClient.isAtBoundary) reads.countWhole()
    else if (!reads.count(chunk.length)) return void this.destroy()
    if (reads.isWaiting) this.#client!.pause()
    if (isSmall || (this.#isTakingAwaited && chunk.length < COPIED_BYTES))
      return this.#gather(chunk)
    this.#passAll()
    this.#pass(chunk)
  }

  /** What the client still sends is nobody's. */
  get #isDropping(): boolean {
    return this.isCut || this.#isAllSaid
  }

  /** It costs what it did before. */
  #drop(isSmall: boolean): void {
    const { reads } = this.#taken!
    if (isSmall) reads.countWhole()
    if (reads.isWaiting) this.#client!.pause()
  }

  /**
   * Over TLS each record comes by itself: what is small goes on together, once a turn, and while the
   * application takes nothing once it is much.
   */
  #gather(chunk: Buffer): void {
    if (this.#gathered.length === 0) setImmediate(this.#passGathered)
    this.#gathered.add(chunk)
    if (this.#isTakingAwaited && this.#gathered.length >= JOINED_BYTES) this.#passAll()
  }

  readonly #passGathered = (): void => {
    const upstream = this.#upstream!
    if (this.#gathered.length === 0 || this.#isTakingAwaited) return
    if (upstream.writableLength === 0 || !upstream.writable) return this.#passAll()
    this.#isTakingAwaited = true
    // Nothing, behind all that waits: its write is over when that is.
    upstream.write(NOTHING, () => {
      this.#isTakingAwaited = false
      this.#passGathered()
    })
  }

  #passAll(): void {
    if (this.#gathered.length > 0 && !this.destroyed) this.#pass(this.#gathered.take())
  }

  #pass(chunk: Buffer): void {
    if (this.push(chunk)) return
    this.#isFull = true
    this.#client!.pause()
    this.#upstream!.setTimeout(this.#world.idleMs)
  }

  override _read(): void {
    if (this.#client === null || !this.#isFull) return
    this.#isFull = false
    this.#upstream!.setTimeout(0)
    this.#readOn()
  }

  #readOn(): void {
    const isWanted = this.#isDropping || !this.#isFull
    if (isWanted && !this.#taken!.reads.isWaiting) this.#client!.resume()
  }

  readonly #onClientEnd = (): void => {
    this.#hasClientEnded = true
    if (this.#isAllSaid) return void this.destroy()
    if (this.isCut) return
    this.#passAll()
    this.push(null)
    this.#linger(this.#world.idleMs)
  }

  // From the application to the client

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    const client = this.#client
    if (client === null || this.isCut) return done()
    if (this.#linesDue === null) {
      this.#toClient.scan(chunk)
      this.bytes += chunk.length
      gatherInTurn(client, chunk.length)
      client.write(chunk)
    } else {
      gatherInTurn(client, 0)
      this.bytes += this.#taken!.open(this.#linesDue)
      this.#linesDue = null
    }
    if (!client.writableNeedDrain) return done()
    this.#awaitingRoom = done
    client.setTimeout(this.#world.idleMs)
  }

  readonly #onClientDrain = (): void => {
    this.#client!.setTimeout(0)
    this.#giveRoom()
  }

  #giveRoom(): void {
    const done = this.#awaitingRoom
    this.#awaitingRoom = null
    done?.()
  }

  override _final(done: Done): void {
    done()
    const client = this.#client
    if (client === null) return void this.destroy()
    if (this.isCut) return
    client.setTimeout(this.#world.idleMs)
    client.end(() => {
      this.#isAllSaid = true
      if (this.#hasClientEnded) return void this.destroy()
      client.resume()
      this.#linger(LIMITS.lingerMsMax)
    })
  }

  // The end

  /**
   * Ends it from our side. Both hear why where one frame has ended and the next has not begun;
   * elsewhere a frame of ours would be read as a part of theirs, so there is just an end.
   */
  cut({ code, reason }: Ending): void {
    const client = this.#client
    if (this.isCut || this.destroyed || client === null) return
    this.isCut = true
    if (this.#linesDue === null && isFree(this.#toClient))
      client.write(closeFrame(code, reason, false))
    client.end()
    if (!this.#hasClientEnded) {
      this.#passAll()
      if (isFree(this.#fromClient)) this.push(closeFrame(code, reason, true))
      this.push(null)
    }
    // What the client still sends is read and dropped: the kernel would answer it by a reset, and
    // that overtakes the close frame.
    client.resume()
    this.#giveRoom()
    this.#linger(LIMITS.lingerMsMax)
  }

  #linger(forMs: number): void {
    this.deadlineMs = Math.min(this.deadlineMs, this.#world.clock.steadyMs() + forMs)
  }

  onDeadline(): void {
    this.destroy()
  }

  readonly #onClientGone = (): void => {
    this.destroy()
  }

  override _destroy(error: Error | null, done: Done): void {
    this.deadlineMs = Infinity
    this.#world.deadlines.delete(this)
    this.#taken?.reads.leave()
    this.#client?.uncork()
    this.#client?.destroy()
    // It may still be taking the client's last words.
    this.#upstream?.setTimeout(LIMITS.lingerMsMax)
    this.#upstream?.destroySoon()
    done(error)
  }

  // What http-proxy-3 asks of a socket

  setTimeout(): this {
    return this
  }

  setNoDelay(): this {
    return this
  }

  /** It has its own, once there is a client. */
  setKeepAlive(): this {
    return this
  }

  destroySoon(): void {
    if (this.writable) this.end()
  }
}

const isFree = (frames: FrameTracker): boolean => frames.isAtBoundary && !frames.hasClosed
const NOTHING = Buffer.alloc(0)
