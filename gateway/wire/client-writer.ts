/** Bytes to one client: everything that one upstream read brought becomes one write. */
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

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

  /** Copies: the caller may use the buffer again at once. True: what was here is with the socket. */
  data(buffer: Buffer, from: number, to: number): boolean {
    if (to - from <= JOINED_BYTES_MAX && this.#out.length <= JOINED_BYTES_MAX) {
      this.#out += buffer.toString('latin1', from, to)
      return false
    }
    const start = this.#out.length
    const bytes = start + to - from
    const joined = this.#spare.take(bytes)
    joined.write(this.#out, 0, 'latin1')
    buffer.copy(joined, start, from, to)
    this.#out = ''
    this.bytes += bytes
    this.#spare.write(this.#socket, joined, bytes)
    return true
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

/** Of several that were under way at once. */
const KEPT_MAX = 32

/**
 * Large buffers to write from, for all connections of a server: a new one for each write would be so
 * much memory outside the heap that V8 collects everything, old objects included, every few writes.
 */
export class SpareBuffer {
  readonly #bytes: number
  readonly #kept: Buffer[] = []

  constructor(bytes = SPARE_BYTES) {
    this.#bytes = bytes
  }

  take(bytes: number): Buffer {
    if (bytes > this.#bytes) return Buffer.allocUnsafeSlow(bytes)
    return this.#kept.pop() ?? Buffer.allocUnsafeSlow(this.#bytes)
  }

  /**
   * So much of it. It is kept again once the socket has sent it, which `onSent` is told; false: the
   * socket has enough.
   */
  write(socket: Socket, taken: Buffer, bytes: number, onSent?: () => void): boolean {
    const piece = taken.subarray(0, bytes)
    // TLS is never done at once.
    if (socket instanceof TLSSocket || onSent !== undefined)
      return socket.write(piece, (error) => {
        // One that was destroyed says so before Node has let go of what it was about to send.
        if (error || socket.destroyed) return
        this.#keep(taken)
        onSent?.()
      })
    const hasRoom = socket.write(piece)
    // Nothing is waiting in the socket: the kernel has it all.
    if (socket.writableLength === 0) this.#keep(taken)
    return hasRoom
  }

  #keep(buffer: Buffer): void {
    if (buffer.length === this.#bytes && this.#kept.length < KEPT_MAX) this.#kept.push(buffer)
  }
}
