/**
 * Of paths, what is held against new rules of their tenant in one turn of the event loop. Each counts
 * as so many characters at least, and behind one that took long there is none. A client has thousands of
 * connections, and a path can be made to cost some milliseconds.
 */
const CHARACTERS_PER_TURN = 32 * 1024
const CHARACTERS_MIN = 64
const TURN_MS = 5

export class PathBudget {
  #left = CHARACTERS_PER_TURN
  /** Of this turn, when the first one was begun; none of them waits for ever. */
  #beganMs: number | undefined

  beginTurn(): void {
    this.#left = CHARACTERS_PER_TURN
    this.#beganMs = undefined
  }

  /** False: in the next turn. */
  isDue(path: string): boolean {
    const nowMs = performance.now()
    this.#beganMs ??= nowMs
    this.#left -= Math.max(path.length, CHARACTERS_MIN)
    if (nowMs - this.#beganMs >= TURN_MS) this.#left = -1
    return this.#left >= 0
  }

  /** There is one that was not due. */
  get isSpent(): boolean {
    return this.#left < 0
  }
}
