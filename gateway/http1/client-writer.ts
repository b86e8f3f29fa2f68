/** Bytes to one client: everything that one upstream read brought becomes one write. */
import type { Socket } from 'node:net'

/** Beyond this, bytes are copied into a buffer instead of being joined as text. */
const JOINED_BYTES_MAX = 16 * 1024

export class ClientWriter {
  /** Handed to the socket since `begin`. */
  bytes = 0
  readonly #socket: Socket
  #out = ''

  constructor(socket: Socket) {
    this.#socket = socket
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
    const joined = Buffer.allocUnsafe(start + to - from)
    joined.write(this.#out, 0, 'latin1')
    buffer.copy(joined, start, from, to)
    this.#out = ''
    this.bytes += joined.length
    this.#socket.write(joined)
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
