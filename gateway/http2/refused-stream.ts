/**
 * A stream that became no exchange. Its answer is short, but a client with no window never takes
 * it: so it counts among the streams of its address until it is closed, and waits no longer than
 * the idle time.
 */
import type { OwnAnswer } from '../wire/exchange.ts'
import type { Deadlined } from '../wire/deadlines.ts'
import { sendAnswer } from './own-answer.ts'
import type { StreamShare } from './stream-share.ts'
import type { Http2World } from './world.ts'
import { ERROR } from './protocol/frames.ts'
import type { ServerStream } from './protocol/stream.ts'

export class RefusedStream implements Deadlined {
  readonly deadlineMs: number
  readonly #stream: ServerStream

  constructor(world: Http2World, stream: ServerStream, share: StreamShare) {
    const { deadlines } = world
    this.#stream = stream
    share.begin()
    deadlines.add(this)
    this.deadlineMs = deadlines.nowMs + world.options.timeouts.idleMs
    stream.once('close', () => {
      share.end()
      deadlines.delete(this)
    })
  }

  answer(answer: OwnAnswer, world: Http2World): void {
    sendAnswer(this.#stream, answer, world.dateLine())
    if (!this.#stream.endAfterHeaders) this.#stream.leaveRequest()
  }

  onDeadline(): void {
    this.#stream.close(ERROR.internal)
  }
}
