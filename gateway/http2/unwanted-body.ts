/**
 * What is still to come of a body that has its answer. It is read on and thrown away for a while: a
 * reset would be in order (RFC 9113 section 8.1), but Node's client never forgets what it could not
 * send then, and soon takes no answer at all on that connection.
 */
import type { Deadlines } from '../wire/deadlines.ts'
import { Lingering } from '../wire/lingering.ts'
import type { ServerStream } from './protocol/stream.ts'

export class UnwantedBody {
  readonly #stream: ServerStream
  readonly #lingering: Lingering
  #isOver = false

  constructor(stream: ServerStream, deadlines: Deadlines) {
    this.#stream = stream
    this.#lingering = new Lingering({ deadlines, drainGraceMs: -1 }, true)
    this.#lingering.onAnswered()
  }

  get deadlineMs(): number {
    return this.#isOver ? Infinity : this.#lingering.deadlineMs
  }

  onData(bytes: number): void {
    if (!this.#lingering.discard(bytes)) this.stop()
  }

  onDeadline(nowMs: number): void {
    if (this.deadlineMs <= nowMs) this.stop()
  }

  /** Too much of it, or too long, or nobody has the time: now it is reset, behind the answer. */
  stop(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#stream.pause()
    this.#stream.leaveRequest()
  }
}
