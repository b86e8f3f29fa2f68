/**
 * What a client still sends behind its last answer. A connection that is closed with unread bytes is
 * reset by the kernel, and the reset overtakes the answer: so what comes is read and thrown away,
 * for so many bytes and so long, as nginx does by the name of `lingering_close`.
 */
import { LIMITS } from '../../shared/limits.ts'
import type { Deadlines } from './deadlines.ts'

export interface LingeringWorld {
  readonly deadlines: Deadlines
  /** -1 while the server is not stopping. */
  readonly drainGraceMs: number
}

export class Lingering {
  /** Infinity until the answer is with the kernel: till then its reader's progress counts. */
  deadlineMs = Infinity
  readonly #world: LingeringWorld
  /** It may be in the middle of a body. */
  readonly #mayBeSending: boolean
  #untilMs: number
  #bytes = 0

  constructor(world: LingeringWorld, mayBeSending: boolean) {
    this.#world = world
    this.#mayBeSending = mayBeSending
    this.#untilMs = world.deadlines.nowMs + this.#atMostMs
  }

  /** A server that stops waits for nobody's body. */
  get #atMostMs(): number {
    const isPatient = this.#mayBeSending && this.#world.drainGraceMs < 0
    return isPatient ? LIMITS.unwantedBodyMsMax : LIMITS.lingerMsMax
  }

  /** These two return the next deadline. */
  onAnswered(): number {
    this.#untilMs = this.#world.deadlines.nowMs + this.#atMostMs
    return this.#awaitMore()
  }

  onDraining(): number {
    this.#untilMs = Math.min(this.#untilMs, this.#world.deadlines.nowMs + this.#atMostMs)
    return this.deadlineMs === Infinity ? Infinity : this.#awaitMore()
  }

  #awaitMore(): number {
    const silentUntilMs = this.#world.deadlines.nowMs + LIMITS.unwantedBodySilentMsMax
    return (this.deadlineMs = Math.min(this.#untilMs, silentUntilMs))
  }

  /** False: it was too much. */
  discard(bytes: number): boolean {
    this.#bytes += bytes
    if (this.deadlineMs !== Infinity) this.#awaitMore()
    return this.#bytes <= LIMITS.unwantedBodyBytesMax
  }

  /** It goes on sending and does not take its answer: from here on only that counts. */
  get isTooLong(): boolean {
    return this.deadlineMs === Infinity && this.#world.deadlines.nowMs > this.#untilMs
  }
}
