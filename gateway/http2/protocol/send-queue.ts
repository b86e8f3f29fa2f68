/**
 * Whose turn it is to send: a frame of each stream that has something, one after the other, as long as
 * the client's window for the connection is open and the socket takes more.
 */
import { FRAME_BYTES_MAX, WINDOW_BYTES, WINDOW_BYTES_MAX } from './frames.ts'
import type { FrameWriter } from './frame-writer.ts'
import type { ServerStream } from './stream.ts'

/**
 * Go's client opens its windows, of a stream and of the connection, for each 4 KiB that it reads: so many
 * bytes have an answer.
 */
const ANSWERED_BYTES = 2048

export class SendQueue {
  readonly #writer: FrameWriter
  #streams: ServerStream[] = []
  #window = WINDOW_BYTES
  /** Sent, and not answered by a window yet. */
  #unanswered = 0
  /** Whoever is told that something was taken may have more: that is in the same round. */
  #isPumping = false
  #isClosed = false

  constructor(writer: FrameWriter) {
    this.#writer = writer
  }

  /** False: no client may open it so far. */
  widen(bytes: number): boolean {
    this.#window += bytes
    return this.#window <= WINDOW_BYTES_MAX
  }

  /** A window has been opened. False: for nothing that was sent. */
  isAnswered(): boolean {
    if (this.#unanswered < ANSWERED_BYTES) return false
    this.#unanswered -= ANSWERED_BYTES
    return true
  }

  add(stream: ServerStream): void {
    if (stream.isQueued || !stream.hasSomethingToSend) return
    stream.isQueued = true
    this.#streams.push(stream)
  }

  pump(): void {
    if (this.#isPumping || this.#isClosed) return
    this.#isPumping = true
    const shut: ServerStream[] = []
    let at = 0
    for (; at < this.#streams.length && !this.#writer.isBlocked; at++) {
      const stream = this.#streams[at]!
      if (!this.#turn(stream)) shut.push(stream)
    }
    // Whoever had a turn and has more stands at the end already, and nowhere else.
    this.#streams = [...shut, ...this.#streams.slice(at)]
    this.#isPumping = false
  }

  /** False: it stays where it is. */
  #turn(stream: ServerStream): boolean {
    // Only what has no body goes through a window that is closed.
    const isShut = this.#window === 0 && stream.writableLength > 0
    if (isShut && stream.hasSomethingToSend) return false
    stream.isQueued = false
    if (!stream.hasSomethingToSend) return true
    const { id } = stream
    const bytes = stream.sendSome(
      Math.min(FRAME_BYTES_MAX, this.#window),
      (body, from, to, isEnd) => this.#writer.data(id, body, from, to, isEnd),
    )
    this.#window -= bytes
    this.#unanswered += bytes
    this.add(stream)
    return true
  }

  close(): void {
    this.#isClosed = true
    this.#streams = []
  }
}
