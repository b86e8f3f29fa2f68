/**
 * A client that does not keep up with its answer has to take some of it over each idle time. What
 * counts is what the kernel takes of a write, which may be large, and never what the client sends:
 * Node's own time-out begins anew with each byte that comes in.
 */
import type { Socket } from 'node:net'
import { LIMITS } from '../../shared/limits.ts'
import type { Deadlined, Deadlines } from '../wire/deadlines.ts'

interface StallWorld {
  readonly deadlines: Deadlines
  readonly timeouts: { readonly idleMs: number }
}

interface Handle {
  readonly bytesWritten?: number
  readonly writeQueueSize?: number
  /** The TCP socket below TLS. */
  readonly _parent?: Handle
}

/** Only differences mean something. */
function takenBytes(socket: Socket): number {
  const own = (socket as unknown as { _handle?: Handle | null })._handle
  const { bytesWritten, writeQueueSize } = own?._parent ?? own ?? {}
  if (bytesWritten === undefined || writeQueueSize === undefined) return -socket.writableLength
  return bytesWritten - writeQueueSize
}

export class AnswerStall implements Deadlined {
  deadlineMs = Infinity
  readonly #socket: Socket
  readonly #world: StallWorld
  readonly #onStalled: () => void
  #sinceMs = 0
  #taken = 0

  constructor(socket: Socket, world: StallWorld, onStalled: () => void) {
    this.#socket = socket
    this.#world = world
    this.#onStalled = onStalled
  }

  /** Something waits for the client. */
  watch(): void {
    if (this.deadlineMs !== Infinity) return
    this.#world.deadlines.add(this)
    this.#measure()
  }

  /** Nothing does any more. */
  rest(): void {
    if (this.deadlineMs === Infinity) return
    this.deadlineMs = Infinity
    this.#world.deadlines.delete(this)
  }

  #measure(): void {
    this.#sinceMs = this.#world.deadlines.nowMs
    this.#taken = takenBytes(this.#socket)
    this.deadlineMs = this.#sinceMs + this.#world.timeouts.idleMs
  }

  onDeadline(nowMs: number): void {
    const taken = takenBytes(this.#socket) - this.#taken
    if (taken * 1000 >= LIMITS.progressBytesPerSecondMin * (nowMs - this.#sinceMs)) this.#measure()
    else this.#onStalled()
  }
}
