/**
 * How far an answer has come, and whether its client takes it. A stream has its time while its connection moves: a slow line
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
  /** Of its body, what was handed to the stream. */
  bytes = 0
  /** What the application has sent of it, until the read that brought it is over. */
  #pieces: Buffer[] = []
  /** When it is looked at; Infinity while there is nothing to take. */
  deadlineMs = Infinity
  /** When something was last seen to have been taken, and how much that was in all. */
  #tookMs = 0
  #taken = 0

  add(piece: Buffer): void {
    this.#pieces.push(piece)
  }

  /** What there is, for the stream; null where there is nothing. */
  take(): Buffer | null {
    const pieces = this.#pieces
    const body = pieces.length > 1 ? Buffer.concat(pieces) : (pieces[0] ?? null)
    if (body === null) return null
    this.#pieces = []
    this.bytes += body.length
    return body
  }

  /** Another answer comes in its place. */
  drop(): void {
    this.#pieces = []
  }

  /** From now on something has to be taken over every idle time. */
  await(nowMs: number, idleMs: number, unsentBytes: number): void {
    this.#tookMs = nowMs
    this.#taken = this.bytes - unsentBytes
    this.deadlineMs = nowMs + idleMs
  }

  /** False: it is waited for no longer. */
  check(nowMs: number, unsentBytes: number, world: AnswerProgressWorld): boolean {
    const { idleMs, idleMsMax } = world
    if (this.bytes - unsentBytes > this.#taken) {
      this.await(nowMs, idleMs, unsentBytes)
      return true
    }
    this.deadlineMs = nowMs + idleMs
    return nowMs - this.#tookMs < idleMsMax && world.isMoving(nowMs)
  }
}
