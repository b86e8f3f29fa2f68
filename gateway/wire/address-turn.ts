/**
 * A client may send a whole read of requests at once, on each of its connections: after so many of
 * them everybody else has their turn, and its connections go on one after the other, with a few each:
 * a neighbour behind the same NAT does not wait for all that they have.
 *
 * A turn's end is asked for once some of them are taken, by whoever takes the last of these: to ask for it in
 * each turn would cost an ordinary request a trip to the kernel, and never to ask would have every
 * second batch of an honest crowd wait, each with its bytes copied and its socket paused.
 */
import { LIMITS } from '../../shared/limits.ts'

const ASKED_FOR_AT = LIMITS.requestsPerTurnMax / 4
/**
 * What takes as much time as another request: so much of a target, if it is made for that, so much of a
 * head, and so many lines of it. Over HTTP/2 each line may be a byte, and stand for 4 KiB.
 */
const TARGET_BYTES_OF_ONE = 512
const HEAD_BYTES_OF_ONE = 4096
const LINES_OF_ONE = 64

export class AddressTurn {
  #taken = 0
  #isDue = false
  /** Of those who have waited, who goes on, and with how many. */
  #current: (() => void) | null = null
  #ofCurrent = 0
  readonly #waiting = new Set<() => void>()

  /** For one more request. False: `proceed` is called in another turn of the event loop. */
  take(proceed: () => void): boolean {
    const hasHad = proceed === this.#current && this.#ofCurrent >= LIMITS.requestsInRotation
    if (this.#taken < LIMITS.requestsPerTurnMax && !hasHad) {
      this.count(1)
      return true
    }
    this.#waiting.add(proceed)
    this.#endTurnSoon()
    return false
  }

  /** The request that was taken last has come to so much. */
  charge(targetBytes: number, headBytes: number, lines: number): void {
    const more =
      Math.floor(targetBytes / TARGET_BYTES_OF_ONE) +
      Math.floor(headBytes / HEAD_BYTES_OF_ONE) +
      Math.floor(lines / LINES_OF_ONE)
    if (more > 0) this.count(more)
  }

  /** So many requests have been taken, or what takes as much. */
  count(requests: number): void {
    this.#taken += requests
    this.#ofCurrent += requests
    if (this.#taken >= ASKED_FOR_AT) this.#endTurnSoon()
  }

  #endTurnSoon(): void {
    if (this.#isDue) return
    this.#isDue = true
    setImmediate(this.#next)
  }

  readonly #next = (): void => {
    this.#isDue = false
    this.#taken = 0
    for (const proceed of this.#waiting) {
      if (this.#taken >= LIMITS.requestsPerTurnMax) break
      this.#waiting.delete(proceed)
      this.#current = proceed
      this.#ofCurrent = 0
      proceed()
    }
    this.#current = null
    if (this.#waiting.size > 0) this.#endTurnSoon()
  }
}
