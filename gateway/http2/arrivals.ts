/**
 * Requests that have begun and wait for the turn of their site: nothing of them has been read but the
 * block, in which a byte may stand for 4 KiB. To read a head takes as long as to decide about it, and
 * one read of the socket brings a hundred of them.
 */
import type { AddressTurn } from '../wire/address-turn.ts'
import type { ServerStream } from './protocol/stream.ts'
import type { UnreadBody } from './unread-body.ts'

export interface Arrival {
  readonly stream: ServerStream
  readonly fields: readonly string[]
  /** Null where there is none. */
  readonly body: UnreadBody | null
}

interface ArrivalsWorld {
  readonly turn: AddressTurn
  /** It is its turn. */
  begin(arrival: Arrival): void
  /** Its client has left it before. */
  onLeft(arrival: Arrival): void
}

export class Arrivals {
  readonly #world: ArrivalsWorld
  readonly #waiting = new Set<Arrival>()
  /** The site calls. */
  #isAwaited = false

  constructor(world: ArrivalsWorld) {
    this.#world = world
  }

  get size(): number {
    return this.#waiting.size
  }

  add(arrival: Arrival): void {
    if (!this.#isAwaited && this.#world.turn.take(this.#next)) return this.#world.begin(arrival)
    this.#isAwaited = true
    this.#waiting.add(arrival)
    arrival.stream.once('close', () => {
      if (this.#waiting.delete(arrival)) this.#world.onLeft(arrival)
    })
  }

  /** As many as may be in this turn of the event loop, over all connections of the site. */
  readonly #next = (): void => {
    this.#isAwaited = false
    for (const arrival of this.#waiting) {
      // It is told in a moment that it is over, and waits for no turn.
      if (arrival.stream.closed) continue
      this.#isAwaited = !this.#world.turn.take(this.#next)
      if (this.#isAwaited) return
      this.#waiting.delete(arrival)
      this.#world.begin(arrival)
    }
  }
}
