/**
 * Frames to one client: those of all its streams that a turn of the event loop brings become one write.
 * What bodies are made of waits with its stream while the socket has enough.
 */
import type { Socket } from 'node:net'
import { SpareBuffer } from '../../wire/client-writer.ts'
import { FLAG, FRAME_BYTES_MAX, FRAME_HEAD_BYTES, TYPE } from './frames.ts'
import { HpackEncoder } from './hpack-encoder.ts'

/** Room for a full frame of each of three streams. */
const WRITE_BYTES = 3 * (FRAME_BYTES_MAX + FRAME_HEAD_BYTES) + 1024
const spare = new SpareBuffer(WRITE_BYTES)

export class FrameWriter {
  readonly encoder = new HpackEncoder()
  readonly #socket: Socket
  readonly #onFlushed: (isSent: boolean) => void
  #out: Buffer | null = null
  #bytes = 0
  #isDue = false
  /** Writes that the socket has not done yet. */
  #inFlight = 0
  /** A turn is over that waits for them. */
  #isHeld = false
  #hasAnswered = false

  /** `onFlushed`: a turn is over; `isSent`: and the socket has all that was written in it. */
  constructor(socket: Socket, onFlushed: (isSent: boolean) => void) {
    this.#socket = socket
    this.#onFlushed = onFlushed
  }

  /** Nothing that may wait is written now: `drain` of the socket tells when it is. */
  get isBlocked(): boolean {
    return this.#socket.writableNeedDrain
  }

  /** Some of an answer has been written since this was asked last. */
  hasAnswered(): boolean {
    const had = this.#hasAnswered
    this.#hasAnswered = false
    return had
  }

  /** What the socket has not got rid of. */
  get unsentBytes(): number {
    return this.#bytes + this.#socket.writableLength
  }

  /**
   * A little waits for what is on its way: each write holds a whole buffer, and to a client that reads
   * nothing there would be one for every answer.
   */
  readonly #flush = (): void => {
    this.#isDue = false
    this.#isHeld = this.#inFlight > 0
    if (this.#isHeld) this.#onFlushed(false)
    else this.flush()
  }

  flush(): void {
    this.#send()
    this.#onFlushed(true)
  }

  readonly #onSent = (): void => {
    this.#inFlight--
    if (!this.#isHeld || this.#inFlight > 0) return
    this.#isHeld = false
    this.flush()
  }

  #send(): void {
    const out = this.#out
    if (out === null) return
    this.#out = null
    if (!this.#socket.destroyed && this.#socket.writable) {
      this.#inFlight++
      spare.write(this.#socket, out, this.#bytes, this.#onSent)
    }
    this.#bytes = 0
  }

  #roomFor(bytes: number): Buffer {
    if (this.#out !== null && this.#bytes + bytes > this.#out.length) this.#send()
    this.#out ??= spare.take(Math.max(bytes, WRITE_BYTES))
    this.due()
    return this.#out
  }

  /** It is flushed at the end of this turn. */
  due(): void {
    if (this.#isDue) return
    this.#isDue = true
    setImmediate(this.#flush)
  }

  #head(out: Buffer, at: number, length: number, type: number, flags: number, id: number): void {
    out[at] = length >>> 16
    out[at + 1] = length >>> 8
    out[at + 2] = length
    out[at + 3] = type
    out[at + 4] = flags
    out[at + 5] = id >>> 24
    out[at + 6] = id >>> 16
    out[at + 7] = id >>> 8
    out[at + 8] = id
  }

  /** Short ones: SETTINGS, PING, GOAWAY, RST_STREAM, WINDOW_UPDATE. */
  frame(type: number, flags: number, id: number, numbers: readonly number[], text?: Buffer): void {
    const length = 4 * numbers.length + (text?.length ?? 0)
    const out = this.#roomFor(FRAME_HEAD_BYTES + length)
    this.#head(out, this.#bytes, length, type, flags, id)
    let at = this.#bytes + FRAME_HEAD_BYTES
    for (const number of numbers) at = out.writeUInt32BE(number, at)
    text?.copy(out, at)
    this.#bytes += FRAME_HEAD_BYTES + length
  }

  settings(values: readonly (readonly [number, number])[]): void {
    const payload = Buffer.alloc(6 * values.length)
    for (const [index, [name, value]] of values.entries()) {
      payload.writeUInt16BE(name, 6 * index)
      payload.writeUInt32BE(value, 6 * index + 2)
    }
    this.frame(TYPE.settings, 0, 0, [], payload)
  }

  /** Returns how many bytes it is. */
  headers(id: number, fields: readonly string[], isEnd: boolean): void {
    this.#hasAnswered = true
    let characters = 0
    for (const text of fields) characters += text.length
    const most = HpackEncoder.bytesMax(characters, fields.length / 2)
    const out = this.#roomFor(FRAME_HEAD_BYTES + most)
    const start = this.#bytes + FRAME_HEAD_BYTES
    const length = this.encoder.encode(fields, out, start) - start
    const endStream = isEnd ? FLAG.endStream : 0
    if (length <= FRAME_BYTES_MAX) {
      this.#head(out, this.#bytes, length, TYPE.headers, FLAG.endHeaders | endStream, id)
      this.#bytes += FRAME_HEAD_BYTES + length
      return
    }
    this.#inPieces(id, Buffer.from(out.subarray(start, start + length)), endStream)
  }

  #inPieces(id: number, block: Buffer, endStream: number): void {
    for (let at = 0; at < block.length; at += FRAME_BYTES_MAX) {
      const piece = block.subarray(at, at + FRAME_BYTES_MAX)
      const isLast = at + FRAME_BYTES_MAX >= block.length
      const type = at === 0 ? TYPE.headers : TYPE.continuation
      const flags = (at === 0 ? endStream : 0) | (isLast ? FLAG.endHeaders : 0)
      this.frame(type, flags, id, [], piece)
    }
  }

  data(id: number, body: Buffer, from: number, to: number, isEnd: boolean): void {
    this.#hasAnswered = true
    const out = this.#roomFor(FRAME_HEAD_BYTES + to - from)
    this.#head(out, this.#bytes, to - from, TYPE.data, isEnd ? FLAG.endStream : 0, id)
    body.copy(out, this.#bytes + FRAME_HEAD_BYTES, from, to)
    this.#bytes += FRAME_HEAD_BYTES + to - from
  }
}
