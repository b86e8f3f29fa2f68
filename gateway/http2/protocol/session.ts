/**
 * The server's end of an HTTP/2 connection (RFC 9113): frames in, streams out, windows, settings, and
 * what a client may not do. Who they are for and what they cost is decided elsewhere.
 */
import { EventEmitter } from 'node:events'
import type { TLSSocket } from 'node:tls'
import { Spending } from '../../wire/budget.ts'
import { clientSettings } from './client-settings.ts'
import { ERROR, FLAG, SETTING, TYPE, WINDOW_BYTES } from './frames.ts'
import { FrameReader, type FrameHandler } from './frame-reader.ts'
import { FrameWriter } from './frame-writer.ts'
import { HeaderBlocks } from './header-blocks.ts'
import { areTrailers, requestMeans } from './request-fields.ts'
import { ReceiveWindow } from './receive-window.ts'
import type { SessionEvents, SessionOptions } from './session-options.ts'
import { SendQueue } from './send-queue.ts'
import { StreamLimit } from './stream-limit.ts'
import { ServerStream, type StreamConnection } from './stream.ts'

/** Answers that the client does not read: then nothing of it is read. */
const UNSENT_BYTES_MAX = 256 * 1024
const LAST_FRAME_MS = 1000

export class ServerSession
  extends EventEmitter<SessionEvents>
  implements FrameHandler, StreamConnection
{
  readonly #socket: TLSSocket
  readonly #options: SessionOptions
  readonly #reader: FrameReader
  readonly #writer: FrameWriter
  readonly #sending: SendQueue
  /** Windows were opened by what is being read: for all of them together more is sent behind it. */
  #isOpened = false
  readonly #blocks: HeaderBlocks
  readonly #streams = new Map<number, ServerStream>()
  /** The last one that was taken. */
  #lastId = 0
  readonly #limit: StreamLimit
  #unwanted: ServerStream[] = []
  /** Told at the end of the turn. */
  #over: ServerStream[] = []
  readonly #receiveWindow: ReceiveWindow
  readonly remoteSettings = { initialWindowSize: WINDOW_BYTES }
  #hasSettings = false
  #invalidFrames = 0
  readonly #resets: Spending
  // the DATA frame that is being read
  #dataStream: ServerStream | null = null
  #isDataEnd = false
  /** It takes no new streams. */
  closed = false
  destroyed = false

  constructor(socket: TLSSocket, options: SessionOptions) {
    super()
    this.#socket = socket
    this.#options = options
    this.#limit = new StreamLimit(options.streamsMax)
    this.#resets = new Spending(options.resets, options.nowMs())
    this.#reader = new FrameReader(this)
    this.#blocks = new HeaderBlocks(options)
    this.#writer = new FrameWriter(socket, (isSent) => this.#onFlushed(isSent))
    this.#sending = new SendQueue(this.#writer)
    this.#receiveWindow = new ReceiveWindow((bytes) =>
      this.#writer.frame(TYPE.windowUpdate, 0, 0, [bytes]),
    )
    this.#writer.settings([
      [SETTING.maxConcurrentStreams, options.streamsMax],
      [SETTING.initialWindowSize, options.streamWindowBytes],
      [SETTING.maxHeaderListSize, options.headers.listBytesMax],
      [SETTING.enableConnect, 1], // WebSockets (RFC 8441)
    ])
    socket
      .on('data', (chunk: Buffer) => this.#onBytes(chunk))
      .on('drain', () => this.#onDrain())
      .on('error', () => undefined)
      .on('close', () => this.#onSocketClose())
  }

  // What is read

  #onBytes(chunk: Buffer): void {
    if (this.destroyed) return
    this.#reader.read(chunk)
    if (this.#isOpened) {
      this.#isOpened = false
      this.#sending.pump()
    }
    if (!this.destroyed && this.#writer.unsentBytes > UNSENT_BYTES_MAX) this.#socket.pause()
  }

  onBroken(code: number): void {
    this.destroy(code)
  }

  onFrame(type: number, flags: number, id: number, bytes: Buffer, from: number, to: number): void {
    if (!this.#hasSettings && (type !== TYPE.settings || (flags & FLAG.ack) !== 0))
      return this.destroy(ERROR.protocol)
    if (this.#blocks.isOpen && (type !== TYPE.continuation || id !== this.#blocks.id))
      return this.destroy(ERROR.protocol)
    switch (type) {
      case TYPE.headers:
        return this.#onBlock(this.#blocks.begin(flags, id, bytes, from, to))
      case TYPE.continuation:
        return this.#onBlock(this.#blocks.goOn(flags, id, bytes, from, to))
      case TYPE.settings:
        return this.#onSettings(flags, id, bytes, from, to)
      case TYPE.windowUpdate:
        return this.#onWindowUpdate(id, bytes, from, to)
      case TYPE.reset:
        return this.#onReset(id, bytes, from, to)
      case TYPE.ping:
        return this.#onPing(flags, id, bytes, from, to)
      case TYPE.goaway:
        return this.#onGoaway(id, bytes, from, to)
      case TYPE.priority:
        if (id === 0) return this.destroy(ERROR.protocol)
        if (to - from !== 5) return this.destroy(ERROR.frameSize)
        return void this.emit('idle')
      case TYPE.pushPromise:
        return this.destroy(ERROR.protocol)
      default:
        return void this.emit('idle')
    }
  }

  #onBlock(error: number): void {
    if (error !== ERROR.none) return this.destroy(error)
    if (this.#blocks.isOpen) return
    const { id, isEnd, decoded } = this.#blocks
    if (decoded === 'invalid') return this.destroy(ERROR.compression)
    const stream = this.#streams.get(id)
    if (stream !== undefined) return this.#onTrailers(stream, isEnd)
    if (id % 2 === 0) return this.destroy(ERROR.protocol)
    if (id <= this.#limit.lastId) return this.#onStrayTrailers(id, isEnd)
    this.#limit.lastId = id
    // It was on its way when GOAWAY said that it is not taken, and more of it may be.
    if (this.closed) return this.#refuse(id, ERROR.refusedStream)
    this.#lastId = id
    if (this.#streams.size >= this.#limit.agreed) return this.destroy(ERROR.protocol)
    if (this.#streams.size >= this.#limit.max) return this.#refuse(id, ERROR.refusedStream)
    if (decoded === 'too-large') return this.#refuse(id, ERROR.enhanceYourCalm)
    const means = requestMeans(decoded.fields, isEnd)
    if (means === null || this.#blocks.dependsOnItself) return this.#refuse(id, ERROR.protocol)
    const opened = new ServerStream(this, id, means, {
      send: this.remoteSettings.initialWindowSize,
      receive: this.#options.streamWindowBytes,
    })
    this.#streams.set(id, opened)
    this.emit('stream', opened, decoded.fields)
  }

  /** Of a stream that has gone. */
  #onStrayTrailers(id: number, isEnd: boolean): void {
    if (isEnd && this.#limit.endReset(id)) return
    if (this.#limit.wasReset(id)) this.#countInvalid()
    else this.destroy(ERROR.streamClosed)
  }

  #refuse(id: number, code: number): void {
    if (!this.#resets.spend(this.#options.nowMs())) return void this.emit('flood', 'resets')
    this.#writeReset(id, code)
    this.emit('refused')
  }

  #onTrailers(stream: ServerStream, isEnd: boolean): void {
    const { decoded } = this.#blocks
    if (stream.hasRemoteEnded) return this.#fault(stream, ERROR.streamClosed)
    if (!isEnd || typeof decoded === 'string') return this.#fault(stream, ERROR.protocol)
    const { fields } = decoded
    if (!areTrailers(fields)) return this.#fault(stream, ERROR.protocol)
    if (stream.closed) return
    stream.trailers = fields
    stream.emit('trailers', fields)
    if (!stream.receiveEnd()) this.#fault(stream, ERROR.protocol)
  }

  /** What its client did wrong ends it alone. */
  #fault(stream: ServerStream, code: number): void {
    this.#countInvalid()
    stream.close(code)
  }

  onDataHead(flags: number, id: number, length: number): void {
    this.#dataStream = null
    if (!this.#hasSettings || id === 0 || this.#blocks.isOpen) return this.destroy(ERROR.protocol)
    if (!this.#receiveWindow.take(length)) return this.destroy(ERROR.flowControl)
    const stream = this.#streams.get(id)
    this.#isDataEnd = (flags & FLAG.endStream) !== 0
    if (stream === undefined) return this.#onStrayData(id, length)
    if (stream.hasRemoteEnded) return this.#fault(stream, ERROR.streamClosed)
    stream.receiveWindow -= length
    if (stream.receiveWindow < 0) return this.#fault(stream, ERROR.flowControl)
    this.#dataStream = stream
    if (length === 0 && !this.#isDataEnd) this.#countInvalid()
    else if (this.#reader.bodyLeft === 0 && !this.#isDataEnd) this.emit('idle')
    // Padding is nobody's to take.
    if ((flags & FLAG.padded) !== 0) stream.take(length - this.#reader.bodyLeft)
  }

  #onStrayData(id: number, length: number): void {
    if (this.#limit.neverWas(id)) return this.destroy(ERROR.protocol)
    if (this.#isDataEnd && this.#limit.endReset(id)) return
    if (length === 0 || !this.#limit.wasReset(id)) this.#countInvalid()
    else this.emit('idle')
  }

  onDataBytes(bytes: Buffer, from: number, to: number, isLast: boolean): void {
    const stream = this.#dataStream
    if (stream === null || stream.closed) return
    if (to > from && !stream.receive(bytes.subarray(from, to)))
      return this.#fault(stream, ERROR.protocol)
    if (isLast && this.#isDataEnd && !stream.closed && !stream.receiveEnd())
      this.#fault(stream, ERROR.protocol)
  }

  #onSettings(flags: number, id: number, bytes: Buffer, from: number, to: number): void {
    if (id !== 0) return this.destroy(ERROR.protocol)
    if ((flags & FLAG.ack) !== 0) {
      if (to > from) return this.destroy(ERROR.frameSize)
      if (!this.#limit.acknowledge()) this.destroy(ERROR.protocol)
      return
    }
    const asked = clientSettings(bytes, from, to)
    if (typeof asked === 'number') return this.destroy(asked)
    this.#hasSettings = true
    for (const size of [asked.headerTableSizeMin, asked.headerTableSize])
      if (size !== undefined) this.#writer.encoder.setTableBytes(size)
    const window = asked.initialWindowSize
    if (window !== undefined && !this.#setInitialWindow(window))
      return this.destroy(ERROR.flowControl)
    this.#writer.frame(TYPE.settings, FLAG.ack, 0, [])
    this.emit('remoteSettings')
    this.#isOpened = true
  }

  #setInitialWindow(bytes: number): boolean {
    const grown = bytes - this.remoteSettings.initialWindowSize
    this.remoteSettings.initialWindowSize = bytes
    for (const stream of this.#streams.values()) {
      if (!stream.widen(grown)) return false
      this.#sending.add(stream)
    }
    return true
  }

  #onWindowUpdate(id: number, bytes: Buffer, from: number, to: number): void {
    if (to - from !== 4) return this.destroy(ERROR.frameSize)
    const grown = bytes.readUInt32BE(from) & 0x7fffffff
    if (!this.#sending.isAnswered()) this.emit('idle')
    if (id === 0) {
      if (grown === 0) return this.destroy(ERROR.protocol)
      if (!this.#sending.widen(grown)) return this.destroy(ERROR.flowControl)
      this.#isOpened = true
      return
    }
    if (this.#limit.neverWas(id)) return this.destroy(ERROR.protocol)
    const stream = this.#streams.get(id)
    if (stream === undefined || stream.closed) return
    if (grown === 0) return this.#fault(stream, ERROR.protocol)
    if (!stream.widen(grown)) return this.#fault(stream, ERROR.flowControl)
    this.#sending.add(stream)
    this.#isOpened = true
  }

  #onReset(id: number, bytes: Buffer, from: number, to: number): void {
    if (this.#limit.neverWas(id)) return this.destroy(ERROR.protocol)
    if (to - from !== 4) return this.destroy(ERROR.frameSize)
    if (!this.#resets.spend(this.#options.nowMs())) return void this.emit('flood', 'resets')
    // Whatever it says: it has not waited for the end.
    this.#streams.get(id)?.abandon(bytes.readUInt32BE(from) || ERROR.cancel)
  }

  #onPing(flags: number, id: number, bytes: Buffer, from: number, to: number): void {
    if (id !== 0) return this.destroy(ERROR.protocol)
    if (to - from !== 8) return this.destroy(ERROR.frameSize)
    // We ask for none.
    if ((flags & FLAG.ack) !== 0) return this.destroy(ERROR.protocol)
    this.#writer.frame(TYPE.ping, FLAG.ack, 0, [], bytes.subarray(from, to))
    // Who measures its line has one under way for what it is sent, as gRPC does: no more than it is sent.
    if (!this.#writer.hasAnswered()) this.emit('ping')
  }

  /** The client leaves; what it has asked for it may still want. */
  #onGoaway(id: number, bytes: Buffer, from: number, to: number): void {
    if (id !== 0) return this.destroy(ERROR.protocol)
    if (to - from < 8) return this.destroy(ERROR.frameSize)
    this.emit('idle')
    if (bytes.readUInt32BE(from + 4) === ERROR.none) this.close()
    else this.destroy(ERROR.none)
  }

  #countInvalid(): void {
    this.#invalidFrames++
    if (this.#invalidFrames > this.#options.invalidFramesMax) this.destroy(ERROR.enhanceYourCalm)
  }

  // What is sent

  setLocalWindowSize(bytes: number): void {
    this.#receiveWindow.set(bytes)
  }

  settings({ maxConcurrentStreams }: { maxConcurrentStreams: number }): void {
    this.#limit.tell(maxConcurrentStreams)
    this.#writer.settings([[SETTING.maxConcurrentStreams, maxConcurrentStreams]])
  }

  sendHead(stream: ServerStream, fields: readonly string[], isEnd: boolean): void {
    if (!this.destroyed) this.#writer.headers(stream.id, fields, isEnd)
  }

  openWindow(stream: ServerStream, bytes: number): void {
    this.#writer.frame(TYPE.windowUpdate, 0, stream.id, [bytes])
  }

  sendReset(stream: ServerStream, code: number): void {
    if (!this.destroyed) this.#writeReset(stream.id, code)
  }

  resetBehind(stream: ServerStream): void {
    this.#unwanted.push(stream)
    this.#writer.due()
  }

  #writeReset(id: number, code: number): void {
    this.#limit.noteReset(id)
    this.#writer.frame(TYPE.reset, 0, id, [code])
  }

  wantsToSend(stream: ServerStream): void {
    this.#sending.add(stream)
    this.#sending.pump()
  }

  #onDrain(): void {
    this.#socket.resume()
    this.#sending.pump()
  }

  #onFlushed(isSent: boolean): void {
    const over = this.#over
    this.#over = []
    for (const stream of over) stream.tellClose()
    if (!isSent) return
    const unwanted = this.#unwanted
    this.#unwanted = []
    for (const stream of unwanted) stream.close(ERROR.none)
    if (unwanted.length > 0 || this.destroyed) return
    if (this.closed && this.#streams.size === 0) this.#leave()
  }

  onOver(stream: ServerStream): void {
    this.#streams.delete(stream.id)
    this.#over.push(stream)
    this.#writer.due()
  }

  // The end

  /** No new streams: what is open is answered. */
  close(): void {
    if (this.closed || this.destroyed) return
    this.closed = true
    this.#writer.frame(TYPE.goaway, 0, 0, [this.#lastId, ERROR.none])
  }

  #leave(): void {
    this.#gone(ERROR.none)
    this.#socket.end()
  }

  destroy(code: number): void {
    if (this.destroyed) return
    this.#writer.frame(TYPE.goaway, 0, 0, [this.#lastId, code])
    this.#writer.flush()
    this.#gone(code === ERROR.none ? ERROR.cancel : code)
    // Why it ends is on its way; nobody is waited for who does not read it.
    this.#socket.end(() => this.#socket.destroy())
    const timer = setTimeout(() => this.#socket.destroy(), LAST_FRAME_MS)
    this.#socket.once('close', () => clearTimeout(timer))
  }

  #gone(code: number): void {
    if (this.destroyed) return
    this.destroyed = true
    this.closed = true
    this.#reader.isOver = true
    for (const stream of [...this.#streams.values()]) stream.abandon(code)
    this.#sending.close()
    this.#writer.due()
  }

  #onSocketClose(): void {
    this.#gone(ERROR.cancel)
    // Behind what its streams are told.
    setImmediate(() => this.emit('close'))
  }
}
