/** How many streams a client may have at once, and what it may still say of those that we have reset. */

/** Streams that we have reset, of which frames may be on their way. */
const RESET_IDS_MAX = 256

export class StreamLimit {
  max: number
  /** What our SETTINGS said, until the client has them: only then it is held to it. */
  readonly #told: number[]
  agreed = Infinity
  readonly #resetIds = new Set<number>()

  constructor(max: number) {
    this.max = max
    this.#told = [max]
  }

  tell(max: number): void {
    this.max = max
    this.#told.push(max)
  }

  /** False: there was nothing to acknowledge. */
  acknowledge(): boolean {
    const agreed = this.#told.shift()
    if (agreed === undefined) return false
    this.agreed = agreed
    return true
  }

  noteReset(id: number): void {
    if (this.#resetIds.size >= RESET_IDS_MAX)
      for (const oldest of this.#resetIds) {
        this.#resetIds.delete(oldest)
        break
      }
    this.#resetIds.add(id)
  }

  wasReset(id: number): boolean {
    return this.#resetIds.has(id)
  }
}
