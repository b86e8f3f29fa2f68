/**
 * What comes of a body while nobody takes it: the rest of its window, which its client may send in
 * frames of one byte. Each would be a buffer of its own, a hundred times what it is; here small ones
 * are put together first. And of whoever goes on sending such frames nothing is taken for
 * a while: its window, which is given back as the body is taken, slows it down.
 */
import { LIMITS } from '../../shared/limits.ts'
import { GatheredBytes } from '../wire/gathered-bytes.ts'
import type { BodyTurn, BodyTurnWorld } from './body-turn.ts'
import type { ServerStream } from './protocol/stream.ts'

/** From here on a buffer is small beside what is in it. */
const JOINED_BYTES = 4096

interface UnreadBodyWorld {
  readonly world: BodyTurnWorld
  /** Of that body came a small frame, beyond those that are free. True: `goOn` is called. */
  hasToWait(body: UnreadBody): boolean
  forgetBody(body: UnreadBody): void
}

export class UnreadBody {
  readonly #world: UnreadBodyWorld
  readonly #stream: ServerStream
  readonly #push: ServerStream['push']
  #turn: BodyTurn | null = null
  #isWaiting = false
  #onSmallJoined: (() => void) | null = null
  #joined: GatheredBytes | null = null
  #smallFrames = 0
  #bytes = 0

  constructor(stream: ServerStream, world: UnreadBodyWorld) {
    this.#stream = stream
    this.#world = world
    this.#push = stream.push.bind(stream)
    // the reading of the connection calls it, with each frame
    stream.push = (chunk: Buffer | null) => this.#onPush(chunk)
    stream.on('resume', () => {
      if (!this.#isWaiting) this.#flush()
    })
  }

  /** Of the exchange, as soon as there is one. */
  belongTo(turn: BodyTurn): void {
    this.#turn = turn
    if (this.#isWaiting) turn.slow(true, this.#world.world)
  }

  /**
   * What comes from now on is counted by whoever takes it. What nobody takes is put together as before, so
   * that `onSmallJoined` is told of each small frame of it.
   */
  release(onSmallJoined: () => void): void {
    this.#onSmallJoined = onSmallJoined
    if (this.#isWaiting) this.#leave()
    this.#isWaiting = false
    this.#flush()
  }

  #onPush(chunk: Buffer | null): boolean {
    if (chunk === null) {
      this.#flush()
      return this.#push(null)
    }
    this.#bytes += chunk.length
    const isSmall = chunk.length < LIMITS.http2SmallDataFrameBytes
    if (isSmall && this.#onSmallJoined === null) this.#countSmall()
    const isTaken = this.#stream.readableFlowing === true
    const isWaiting = this.#isWaiting
    if (!isWaiting && this.#joined === null && (isTaken || chunk.length >= JOINED_BYTES))
      return this.#push(chunk)
    this.#joined ??= new GatheredBytes()
    this.#joined.add(chunk)
    if (isSmall) this.#onSmallJoined?.()
    if (isWaiting) return false
    return this.#joined.length < JOINED_BYTES || this.#flush()
  }

  /**
   * A body comes as each TLS record brought it, and a full frame with its head does not fit into
   * one: so a large body brings some, and each KiB makes room for one more.
   */
  #countSmall(): void {
    this.#smallFrames++
    const free = LIMITS.http2SmallDataFramesFree + this.#bytes / 1024
    if (this.#smallFrames <= free) return
    if (!this.#world.hasToWait(this) || this.#isWaiting) return
    this.#isWaiting = true
    this.#turn?.slow(true, this.#world.world)
    this.#stream.once('close', this.#leave)
  }

  readonly #leave = (): void => this.#world.forgetBody(this)

  goOn(): void {
    this.#isWaiting = false
    this.#stream.off('close', this.#leave)
    this.#turn?.slow(false, this.#world.world)
    this.#flush()
  }

  #flush(): boolean {
    const joined = this.#joined
    this.#joined = null
    return joined === null || this.#push(joined.take())
  }
}
