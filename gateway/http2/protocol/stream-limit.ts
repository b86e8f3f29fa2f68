/**
 * How many streams a client may have at once, and what it may still say of those that it has begun and
 * we have reset, or never taken.
 */

/** Streams that we have reset, of which frames may be on their way. */
const RESET_IDS_MAX = 256

export class StreamLimit {
  max: number
  /** What our SETTINGS said, until the client has them: only then it is held to it. */
  readonly #told: number[]
  agreed = Infinity
  readonly #resetIds = new Set<number>()
  /** The last one that it has begun, also where it was too late. */
  lastId = 0

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

  /** Its client has begun none of that id, and we push none. */
  neverWas(id: number): boolean {
    return id > this.lastId || id % 2 === 0
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

  /** Its client has ended it: that was on its way, and nothing else is. False: it was not reset. */
  endReset(id: number): boolean {
    return this.#resetIds.delete(id)
  }
}
