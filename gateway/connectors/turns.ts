/**
 * Connectors that come and leave, one in a turn of the event loop: to judge what one has signed, and what it
 * opens, takes a millisecond, to part from one a tenth of that, and a network that stands still for a
 * moment brings hundreds in one read. Nobody else waits for more than one of them.
 */
export class Turns {
  readonly #waiting = new Set<() => void>()
  #isDue = false

  get size(): number {
    return this.#waiting.size
  }

  /** Answers how it is given up. */
  add(work: () => void): () => void {
    this.#waiting.add(work)
    this.#soon()
    return () => void this.#waiting.delete(work)
  }

  #soon(): void {
    if (this.#isDue || this.#waiting.size === 0) return
    this.#isDue = true
    setImmediate(this.#next)
  }

  readonly #next = (): void => {
    this.#isDue = false
    const [work] = this.#waiting
    if (work === undefined) return
    this.#waiting.delete(work)
    this.#soon()
    work()
  }
}
