/**
 * What connectors have signed is looked at one by one, each in a turn of the event loop: a proof and what
 * it opens take a millisecond, and a network that stands still for a moment brings those of
 * hundreds in one read. Nobody else waits for more than one of them.
 */
export class ProofTurns {
  #waiting = new Set<() => void>()
  #isDue = false

  get size(): number {
    return this.#waiting.size
  }

  /** Answers how it is given up. */
  add(judge: () => void): () => void {
    this.#waiting.add(judge)
    this.#soon()
    return () => void this.#waiting.delete(judge)
  }

  #soon(): void {
    if (this.#isDue || this.#waiting.size === 0) return
    this.#isDue = true
    setImmediate(this.#next)
  }

  readonly #next = (): void => {
    this.#isDue = false
    const [judge] = this.#waiting
    if (judge === undefined) return
    this.#waiting.delete(judge)
    this.#soon()
    judge()
  }
}
