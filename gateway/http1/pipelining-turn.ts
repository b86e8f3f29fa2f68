/**
 * A client may send a whole read of requests at once, and many clients may do so at the same moment:
 * after some of them a connection lets all others have their turn, so that nobody waits behind all.
 */
import { LIMITS } from '../../shared/limits.ts'

export class PipeliningTurn {
  #taken = 0
  #isAwaited = false
  readonly #proceed: () => void

  constructor(proceed: () => void) {
    this.#proceed = proceed
  }

  /** Something new has been read. */
  begin(): void {
    this.#taken = 0
  }

  /** For one more request. False: `proceed` is called in the next turn of the event loop. */
  take(): boolean {
    if (this.#taken < LIMITS.requestsPerTurnMax) {
      this.#taken++
      return true
    }
    if (!this.#isAwaited) setImmediate(this.#next)
    this.#isAwaited = true
    return false
  }

  readonly #next = (): void => {
    this.#isAwaited = false
    this.#taken = 0
    this.#proceed()
  }
}
