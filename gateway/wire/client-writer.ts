/** Bytes to one client: everything that one upstream read brought becomes one write. */
import type { Socket } from 'node:net'

/** Beyond this, bytes are copied into a buffer instead of being joined as text. */
const JOINED_BYTES_MAX = 16 * 1024

export class ClientWriter {
  /** Handed to the socket since `begin`. */
  bytes = 0
  readonly #socket: Socket
  readonly #spare: SpareBuffer
  #out = ''

  constructor(socket: Socket, spare: SpareBuffer) {
    this.#socket = socket
    this.#spare = spare
  }

  begin(): void {
    this.bytes = 0
    this.#out = ''
  }

  /** One byte a character. */
  text(text: string): void {
    this.#out += text
  }

  /** Copies: the caller may use the buffer again at once. */
  data(buffer: Buffer, from: number, to: number): void {
    if (to - from <= JOINED_BYTES_MAX && this.#out.length <= JOINED_BYTES_MAX) {
      this.#out += buffer.toString('latin1', from, to)
      return
    }
    const start = this.#out.length
    const bytes = start + to - from
    const joined = this.#spare.take(bytes)
    joined.write(this.#out, 0, 'latin1')
    buffer.copy(joined, start, from, to)
    this.#out = ''
    this.bytes += bytes
    this.#socket.write(joined.subarray(0, bytes))
    // Nothing is waiting in the socket: the kernel has it all, and the buffer is free again.
    if (this.#socket.writableLength === 0) this.#spare.giveBack(joined)
  }

  /** False: the client does not keep up; `drain` will tell. */
  flush(): boolean {
    if (this.#out !== '') {
      this.bytes += this.#out.length
      this.#socket.write(this.#out, 'latin1')
      this.#out = ''
    }
    return !this.#socket.writableNeedDrain
  }

  utf8(text: string): void {
    this.bytes += Buffer.byteLength(text)
    this.#socket.write(text)
  }

  /** Forgets what has not been flushed. */
  discard(): void {
    this.#out = ''
  }
}

/** All that one read of an upstream brings, behind what was waiting to be written. */
const SPARE_BYTES = (128 + 16) * 1024

/** One large buffer to write from, for all connections of a server; lost to whom the kernel is slow. */
export class SpareBuffer {
  readonly #bytes: number
  #buffer: Buffer | null = null

  constructor(bytes = SPARE_BYTES) {
    this.#bytes = bytes
  }

  take(bytes: number): Buffer {
    const spare = this.#buffer
    if (bytes > this.#bytes) return Buffer.allocUnsafeSlow(bytes)
    this.#buffer = null
    return spare ?? Buffer.allocUnsafeSlow(this.#bytes)
  }

  giveBack(buffer: Buffer): void {
    if (buffer.length === this.#bytes) this.#buffer = buffer
  }
}
