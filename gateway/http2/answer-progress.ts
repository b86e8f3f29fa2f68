/**
 * Whether a client takes its answer. A stream has its time while its connection moves: a slow line
 * that carries many of them gives each its turn. A connection that moves nothing is waited for no
 * longer than on the other wire.
 */
export interface AnswerProgressWorld {
  readonly idleMs: number
  /** However much the others of its connection move. */
  readonly idleMsMax: number
  isMoving(nowMs: number): boolean
}

export class AnswerProgress {
  /** When it is looked at; Infinity while there is nothing to take. */
  deadlineMs = Infinity
  /** When something was last seen to have been taken, and how much that was in all. */
  #tookMs = 0
  #taken = 0

  /** From now on something has to be taken over every idle time. */
  await(nowMs: number, idleMs: number, takenBytes: number): void {
    this.#tookMs = nowMs
    this.#taken = takenBytes
    this.deadlineMs = nowMs + idleMs
  }

  /** False: it is waited for no longer. */
  check(nowMs: number, takenBytes: number, world: AnswerProgressWorld): boolean {
    const { idleMs, idleMsMax } = world
    if (takenBytes > this.#taken) {
      this.await(nowMs, idleMs, takenBytes)
      return true
    }
    this.deadlineMs = nowMs + idleMs
    return nowMs - this.#tookMs < idleMsMax && world.isMoving(nowMs)
  }
}
