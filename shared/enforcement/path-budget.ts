/**
 * Of paths, what is held against new rules of their tenant in one turn of the event loop. Each counts
 * as so many characters at least. A client has thousands of connections, and a path can be made to
 * cost a millisecond.
 */
const CHARACTERS_PER_TURN = 32 * 1024
const CHARACTERS_MIN = 64

export class PathBudget {
  #left = CHARACTERS_PER_TURN

  beginTurn(): void {
    this.#left = CHARACTERS_PER_TURN
  }

  /** False: in the next turn. */
  isDue(path: string): boolean {
    this.#left -= Math.max(path.length, CHARACTERS_MIN)
    return this.#left >= 0
  }

  /** There is one that was not due. */
  get isSpent(): boolean {
    return this.#left < 0
  }
}
