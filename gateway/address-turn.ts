/**
 * A client may send a whole read of requests at once, on each of its connections: after so many of
 * them everybody else has their turn, and its connections go on one after the other. Nothing is
 * counted by time or by turn, so it costs an ordinary request nothing: it yields now and then.
 */
import { LIMITS } from '../shared/limits.ts'

export class AddressTurn {
  #taken = 0
  #isDue = false
  readonly #waiting = new Set<() => void>()

  /** For one more request. False: `proceed` is called in another turn of the event loop. */
  take(proceed: () => void): boolean {
    if (this.#taken < LIMITS.requestsPerTurnMax) {
      this.#taken++
      return true
    }
    this.#waiting.add(proceed)
    this.#proceedSoon()
    return false
  }

  #proceedSoon(): void {
    if (this.#isDue) return
    this.#isDue = true
    setImmediate(this.#next)
  }

  readonly #next = (): void => {
    this.#isDue = false
    this.#taken = 0
    for (const proceed of this.#waiting) {
      if (this.#taken === LIMITS.requestsPerTurnMax) return this.#proceedSoon()
      this.#waiting.delete(proceed)
      proceed()
    }
  }
}
