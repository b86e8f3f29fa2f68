/**
 * How far an answer has come, and whether its client takes it. A stream has its time while its
 * connection moves: a slow line that carries many of them gives each its turn. A connection that
 * moves nothing is waited for no longer than on the other wire.
 */
import type { BodyBuffers } from './body-buffers.ts'

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
  readonly #buffers: BodyBuffers
  /** What one of the pieces lies in, and what was taken last. */
  #lent: Buffer | null = null
  #lentToLast: Buffer | null = null
  /** When it is looked at; Infinity while there is nothing to take. */
  deadlineMs = Infinity
  /** When something was last seen to have been taken, and how much that was in all. */
  #tookMs = 0
  #taken = 0

  constructor(buffers: BodyBuffers) {
    this.#buffers = buffers
  }

  /** Copies: the bytes are borrowed for the time of the call. */
  add(buffer: Buffer, from: number, to: number): void {
    const lent = this.#lent === null ? this.#buffers.lend(to - from) : null
    if (lent === null) return void this.#pieces.push(Buffer.from(buffer.subarray(from, to)))
    this.#lent = lent
    this.#pieces.push(lent.subarray(0, buffer.copy(lent, 0, from, to)))
  }

  addText(text: string): void {
    this.#pieces.push(Buffer.from(text, 'latin1'))
  }

  /** What there is, for the stream; null where there is nothing. */
  take(): Buffer | null {
    const pieces = this.#pieces
    if (pieces.length === 0) return null
    const lent = this.#lent
    const isCopied = pieces.length > 1
    const body = isCopied ? Buffer.concat(pieces) : pieces[0]!
    if (isCopied && lent !== null) this.#buffers.giveBack(lent)
    this.#lentToLast = isCopied ? null : lent
    this.#lent = null
    this.#pieces = []
    this.bytes += body.length
    return body
  }

  /** What the stream calls when it is done with what was taken last. */
  whenDone(then: (() => void) | undefined): (() => void) | undefined {
    const lent = this.#lentToLast
    if (lent === null) return then
    this.#lentToLast = null
    return () => {
      this.#buffers.giveBack(lent)
      then?.()
    }
  }

  /** Another answer comes in its place. */
  drop(): void {
    this.#pieces = []
    this.#lent = null
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
    // A byte now and then is no progress of a line that carries next to nothing.
    if (this.bytes - unsentBytes > this.#taken && world.isMoving(nowMs)) {
      this.await(nowMs, idleMs, unsentBytes)
      return true
    }
    this.deadlineMs = nowMs + idleMs
    return nowMs - this.#tookMs < idleMsMax && world.isMoving(nowMs)
  }
}
