/**
 * What a client may send on its connection. It is given back as it comes, so that no stream stops the
 * others: each has a window of its own, which is not.
 */
import { WINDOW_BYTES } from './frames.ts'

export class ReceiveWindow {
  readonly #open: (bytes: number) => void
  #max = WINDOW_BYTES
  #left = WINDOW_BYTES
  #taken = 0

  /** `open`: the client is told that there is so much more. */
  constructor(open: (bytes: number) => void) {
    this.#open = open
  }

  set(bytes: number): void {
    const grown = bytes - this.#max
    this.#max = bytes
    this.#left += grown
    this.#open(grown)
  }

  /** False: so much it may not. */
  take(bytes: number): boolean {
    this.#left -= bytes
    if (this.#left < 0) return false
    this.#taken += bytes
    if (2 * this.#taken < this.#max) return true
    this.#left += this.#taken
    this.#open(this.#taken)
    this.#taken = 0
    return true
  }
}
