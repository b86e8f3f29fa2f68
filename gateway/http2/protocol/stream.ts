/**
 * One request and its answer on a connection. What its client sends stays in its window until somebody
 * takes it; what is sent to it waits for its window, and for the connection's.
 */
import { EventEmitter } from 'node:events'
import { ERROR, WINDOW_BYTES_MAX } from './frames.ts'

/** What a stream has of its connection. */
export interface StreamConnection {
  sendHead(stream: ServerStream, fields: readonly string[], isEnd: boolean): void
  /** It has something to send, or an end. */
  wantsToSend(stream: ServerStream): void
  sendReset(stream: ServerStream, code: number): void
  /** Once what has been written for it is on its way. */
  resetBehind(stream: ServerStream): void
  openWindow(stream: ServerStream, bytes: number): void
  /** It is told at the end of this turn that it is over. */
  onOver(stream: ServerStream): void
}

interface Piece {
  body: Buffer
  at: number
  /** The end of what is in it. */
  to: number
  readonly onDone: (() => void) | undefined
}

interface StreamEvents {
  data: [chunk: Buffer]
  trailers: [fields: readonly string[]]
  end: []
  resume: []
  drain: []
  close: []
}

/** A stream that holds more is full. */
const FULL_BYTES = 64 * 1024
/** Pieces that wait are put together up to here: one of a byte costs two hundred, and a frame. */
const JOINED_BYTES = 4096

export class ServerStream extends EventEmitter<StreamEvents> {
  readonly id: number
  readonly #connection: StreamConnection
  /** Its request is its head. */
  readonly endAfterHeaders: boolean
  readonly #isHead: boolean
  rstCode: number = ERROR.none
  /** Both ends have ended it, or one has reset it. */
  closed = false
  // the request's body
  receiveWindow: number
  readonly #windowBytes: number
  /** Negative: not said. */
  readonly #length: number
  #receivedBytes = 0
  #takenBytes = 0
  hasRemoteEnded: boolean
  #isEndTold = false
  #unread: Buffer[] = []
  readableFlowing: boolean | null = null
  /** Of the request. */
  trailers: readonly string[] | null = null
  // the answer
  sendWindow: number
  #pieces: Piece[] = []
  writableLength = 0
  writableEnded = false
  writableFinished = false
  #needsDrain = false
  /** What is still to come of its request is nobody's. */
  #isUnwanted = false
  #ownTrailers: readonly string[] | null = null
  /** Waits for its turn at the connection. */
  isQueued = false

  constructor(
    connection: StreamConnection,
    id: number,
    request: { isWhole: boolean; isHead: boolean; length: number },
    windows: { send: number; receive: number },
  ) {
    super()
    this.#connection = connection
    this.id = id
    this.endAfterHeaders = this.hasRemoteEnded = request.isWhole
    this.#isHead = request.isHead
    this.#length = request.length
    this.sendWindow = windows.send
    this.receiveWindow = this.#windowBytes = windows.receive
  }

  // The request's body

  /** False: it is not what was said of it (RFC 9113 section 8.1.1). */
  receive(chunk: Buffer): boolean {
    this.#receivedBytes += chunk.length
    if (this.#length >= 0 && this.#receivedBytes > this.#length) return false
    this.push(chunk)
    return true
  }

  /** False likewise. */
  receiveEnd(): boolean {
    this.hasRemoteEnded = true
    if (this.#length >= 0 && this.#receivedBytes !== this.#length) return false
    this.push(null)
    this.#closeIfOver()
    return true
  }

  /** False: nobody takes it now. */
  push(chunk: Buffer | null): boolean {
    if (chunk !== null) this.#unread.push(chunk)
    else this.#isEndTold = true
    if (this.readableFlowing === true) this.#flow()
    return this.readableFlowing === true
  }

  readonly #flow = (): void => {
    while (this.readableFlowing === true && !this.closed) {
      const chunk = this.#unread.shift()
      if (chunk !== undefined) {
        this.emit('data', chunk)
        this.take(chunk.length)
        continue
      }
      if (!this.#isEndTold) return
      this.#isEndTold = false
      this.emit('end')
    }
  }

  /** So much of its window is free again. */
  take(bytes: number): void {
    if (this.hasRemoteEnded || this.closed) return
    this.#takenBytes += bytes
    if (2 * this.#takenBytes < this.#windowBytes) return
    this.receiveWindow += this.#takenBytes
    this.#connection.openWindow(this, this.#takenBytes)
    this.#takenBytes = 0
  }

  pause(): this {
    this.readableFlowing = false
    return this
  }

  resume(): this {
    if (this.readableFlowing === true) return this
    this.readableFlowing = true
    if (this.closed) return this
    this.emit('resume')
    this.#flow()
    return this
  }

  // The answer

  additionalHeaders(fields: readonly string[]): void {
    if (!this.closed) this.#connection.sendHead(this, fields, false)
  }

  respond(fields: readonly string[], isWhole: boolean): void {
    if (this.closed) return
    const isEnd = isWhole || this.#isHead
    if (isEnd) this.writableEnded = true
    this.#connection.sendHead(this, fields, isEnd)
    if (isEnd) this.#finish()
  }

  /** `onDone`: it is sent, or never will be; the body is nobody's. False: it is full until `drain`. */
  write(body: Buffer, onDone?: () => void): boolean {
    this.writableLength += body.length
    if (!this.#join(body, onDone)) this.#pieces.push({ body, at: 0, to: body.length, onDone })
    this.#connection.wantsToSend(this)
    if (this.writableLength < FULL_BYTES) return true
    this.#needsDrain = true
    return false
  }

  /** Who is told of both is told once. */
  #join(body: Buffer, onDone: (() => void) | undefined): boolean {
    const last = this.#pieces.at(-1)
    if (last === undefined || last.onDone !== onDone) return false
    const to = last.to + body.length
    if (to > JOINED_BYTES) return false
    if (to > last.body.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(2 * to, JOINED_BYTES))
      last.body.copy(larger, 0, 0, last.to)
      last.body = larger
    }
    body.copy(last.body, last.to)
    last.to = to
    return true
  }

  end(body: Buffer | null, trailers: readonly string[] | null, onDone?: () => void): void {
    if (this.writableEnded) return
    this.writableEnded = true
    this.#ownTrailers = trailers
    if (body === null) this.#connection.wantsToSend(this)
    else this.write(body, onDone)
  }

  /** Nothing is waiting but its end, or not even that. */
  get hasSomethingToSend(): boolean {
    if (this.closed || this.writableFinished) return false
    return this.writableLength > 0 ? this.sendWindow > 0 : this.writableEnded
  }

  /**
   * Its turn: at most so many bytes of body by `send`, which is told whether they are the last ones.
   * Returns how many it were.
   */
  sendSome(
    bytesMax: number,
    send: (body: Buffer, from: number, to: number, isEnd: boolean) => void,
  ): number {
    const piece = this.#pieces[0]
    const trailers = this.#ownTrailers
    if (piece === undefined) {
      if (trailers === null) send(EMPTY, 0, 0, true)
      else this.#connection.sendHead(this, trailers, true)
      this.#finish()
      return 0
    }
    // A client that narrows its windows owes: what has no body goes through such a one, too.
    const room = Math.max(0, Math.min(bytesMax, this.sendWindow))
    const to = Math.min(piece.to, piece.at + room)
    const bytes = to - piece.at
    const isWhole = to === piece.to
    const isEnd = isWhole && this.writableEnded && this.#pieces.length === 1 && trailers === null
    this.sendWindow -= bytes
    this.writableLength -= bytes
    send(piece.body, piece.at, to, isEnd)
    piece.at = to
    if (isWhole) {
      this.#pieces.shift()
      piece.onDone?.()
    }
    if (isEnd) this.#finish()
    if (this.#needsDrain && this.writableLength === 0) {
      this.#needsDrain = false
      this.emit('drain')
    }
    return bytes
  }

  #finish(): void {
    this.writableFinished = true
    this.#closeIfOver()
    if (this.#isUnwanted) this.leaveRequest()
  }

  // The end

  #closeIfOver(): void {
    if (this.writableFinished && this.hasRemoteEnded) this.#over(ERROR.none)
  }

  /** False: the client may not open it so far. */
  widen(bytes: number): boolean {
    this.sendWindow += bytes
    return this.sendWindow <= WINDOW_BYTES_MAX
  }

  /**
   * RFC 9113 section 8.1: the answer is whole, or will be, and its client need not go on behind it. That
   * is said in a write of its own: curl forgets an answer that comes together with the reset.
   */
  leaveRequest(): void {
    this.#isUnwanted = true
    if (this.writableFinished && !this.closed) this.#connection.resetBehind(this)
  }

  close(code: number): void {
    if (this.closed) return
    this.#connection.sendReset(this, code)
    this.#over(code)
  }

  /** The client has reset it, or its connection is gone. */
  abandon(code: number): void {
    this.#over(code)
  }

  #over(code: number): void {
    if (this.closed) return
    this.closed = true
    this.rstCode = code
    const unsent = this.#pieces
    this.#pieces = []
    this.writableLength = 0
    for (const { onDone } of unsent) onDone?.()
    this.#connection.onOver(this)
  }

  /** An end that has not been taken yet is still told: all of the body was there. */
  tellClose(): void {
    if (this.rstCode === ERROR.none && this.readableFlowing === true) this.#tellRest()
    this.#unread = []
    this.emit('close')
  }

  #tellRest(): void {
    for (const chunk of this.#unread) this.emit('data', chunk)
    if (this.#isEndTold) this.emit('end')
    this.#isEndTold = false
  }
}

const EMPTY = Buffer.alloc(0)
