/**
 * The stream of a WebSocket (RFC 8441), as a socket: what is written goes out in DATA frames at the pace
 * of its windows, an end is END_STREAM and a reset is CANCEL. The tunnel knows no difference.
 */
import { Duplex } from 'node:stream'
import type { ClientSocket } from '../wire/exchange.ts'
import { appendLines } from './field-lists.ts'
import { ERROR } from './protocol/frames.ts'
import type { ServerStream } from './protocol/stream.ts'

type Done = (error?: Error | null) => void

interface StreamSocketConnection {
  /** It holds as much as it may of what its client has not taken. */
  readonly isFull: boolean
  readonly onTaken: () => void
  onWritten(bytes: number): void
  keepAlive(afterMs: number): void
}

export class StreamSocket extends Duplex implements ClientSocket {
  readonly #stream: ServerStream
  readonly #connection: StreamSocketConnection
  readonly #onWritten: (bytes: number) => void
  /** Asked to wait until its client has taken something. */
  #awaitingRoom: Done | null = null
  /** The stream has enough of it. */
  #isFull = false
  #timer: NodeJS.Timeout | undefined
  #unsentBytes = 0

  constructor(
    stream: ServerStream,
    connection: StreamSocketConnection,
    onWritten: (bytes: number) => void,
  ) {
    // What is not taken waits in the stream, where small pieces of it are put together.
    super({ allowHalfOpen: true, readableHighWaterMark: 0 })
    this.#stream = stream
    this.#connection = connection
    this.#onWritten = onWritten
    stream
      .on('data', (chunk: Buffer) => this.#onData(chunk))
      .on('end', () => this.push(null))
      .on('drain', () => this.#onDrain())
      .on('close', () => this.destroy())
  }

  /** The head of the answer; what a socket of HTTP/1.1 agrees to by its key is said by 200 here. */
  open(lines: string): number {
    const fields: string[] = [':status', '200']
    appendLines(fields, lines)
    const accept = fields.findIndex((name, at) => at % 2 === 0 && name === ACCEPT)
    if (accept !== -1) fields.splice(accept, 2)
    this.#stream.respond(fields, false)
    return lines.length
  }

  #onData(chunk: Buffer): void {
    this.#timer?.refresh()
    if (!this.push(chunk)) this.#stream.pause()
  }

  override _read(): void {
    this.#stream.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#isFull = !this.#stream.write(chunk, this.#onTaken)
    this.#onWritten(chunk.length)
    this.#connection.onWritten(chunk.length)
    this.#awaitingRoom = done
    this.adjust()
  }

  override _writev(chunks: { chunk: Buffer }[], done: Done): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), 'latin1', done)
  }

  #onDrain(): void {
    this.#isFull = false
    this.#timer?.refresh()
    this.adjust()
  }

  readonly #onTaken = (): void => {
    this.#timer?.refresh()
    this.#connection.onTaken()
    this.adjust()
  }

  /** The connection is full, or is no more. */
  adjust(): void {
    if (this.#isFull) return
    if (this.#connection.isFull && this.#stream.writableLength >= BESIDE_ANSWERS_BYTES) return
    const done = this.#awaitingRoom
    this.#awaitingRoom = null
    done?.()
  }

  /** Told once END_STREAM is on its way. */
  override _final(done: Done): void {
    this.#stream.end(EMPTY, null, () => done())
  }

  override _destroy(error: Error | null, done: Done): void {
    clearTimeout(this.#timer)
    this.#stream.close(ERROR.cancel)
    done(error)
  }

  // What is asked of a socket

  /** 'timeout', where nothing came and nothing was taken for so long. */
  setTimeout(ms: number): this {
    clearTimeout(this.#timer)
    this.#unsentBytes = this.#stream.writableLength
    this.#timer = ms > 0 ? setTimeout(() => this.#onTimeout(ms), ms).unref() : undefined
    return this
  }

  #onTimeout(ms: number): void {
    if (this.#stream.writableLength < this.#unsentBytes) this.setTimeout(ms)
    else this.emit('timeout')
  }

  setKeepAlive(_isKept: boolean, afterMs: number): this {
    this.#connection.keepAlive(afterMs)
    return this
  }
}

const ACCEPT = 'sec-websocket-accept'
const EMPTY = Buffer.alloc(0)
/** As much goes on also where answers fill the connection: over a slow line they take seconds, and a message is small. */
const BESIDE_ANSWERS_BYTES = 16 * 1024
