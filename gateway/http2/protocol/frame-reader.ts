/**
 * Bytes of a client become frames. Bodies go on as they come; of every other frame nothing is done
 * before it is whole, and at most one of them is held.
 */
import { ERROR, FLAG, FRAME_BYTES_MAX, FRAME_HEAD_BYTES, PREFACE, TYPE } from './frames.ts'

export interface FrameHandler {
  /** A whole frame other than DATA; the bytes are borrowed for the time of the call. */
  onFrame(type: number, flags: number, id: number, bytes: Buffer, from: number, to: number): void
  /** The head of a DATA frame, and how long it is with its padding. */
  onDataHead(flags: number, id: number, length: number): void
  /** Some of its body; `isLast`: with this it is whole. */
  onDataBytes(bytes: Buffer, from: number, to: number, isLast: boolean): void
  onBroken(code: number): void
}

export class FrameReader {
  readonly #handler: FrameHandler
  /** Nothing more is read. */
  isOver = false
  #prefaceRead = 0
  /** The beginning of a frame that is not whole, in a place of its own. */
  #held: Buffer = EMPTY
  #heldBytes = 0
  // what is to come of a DATA frame: body, then padding
  bodyLeft = 0
  #paddingLeft = 0
  #isInData = false

  constructor(handler: FrameHandler) {
    this.#handler = handler
  }

  read(chunk: Buffer): void {
    let at = 0
    const { length } = chunk
    while (at < length && !this.isOver) {
      if (this.#prefaceRead < PREFACE.length) at = this.#preface(chunk, at)
      else if (this.#isInData) at = this.#data(chunk, at)
      else if (this.#heldBytes > 0) at = this.#resume(chunk, at)
      else {
        const needed = this.#needed(chunk, at, length)
        if (needed < 0) return
        if (length - at < needed) {
          this.#hold(chunk, at, length, needed)
          return
        }
        at = this.#frame(chunk, at, at + needed)
      }
    }
  }

  #broken(code: number): number {
    this.isOver = true
    this.#handler.onBroken(code)
    return -1
  }

  #preface(chunk: Buffer, from: number): number {
    let at = from
    while (at < chunk.length && this.#prefaceRead < PREFACE.length)
      if (chunk[at++] !== PREFACE[this.#prefaceRead++]) return this.#broken(ERROR.protocol)
    return at
  }

  /** How much of it has to be there before anything is done with it; negative: it is none. */
  #needed(bytes: Buffer, at: number, end: number): number {
    if (end - at < FRAME_HEAD_BYTES) return FRAME_HEAD_BYTES
    const length = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!
    if (length > FRAME_BYTES_MAX) return this.#broken(ERROR.frameSize)
    if (bytes[at + 3] !== TYPE.data) return FRAME_HEAD_BYTES + length
    // With how much padding it has.
    return FRAME_HEAD_BYTES + ((bytes[at + 4]! & FLAG.padded) !== 0 && length > 0 ? 1 : 0)
  }

  #hold(chunk: Buffer, from: number, to: number, needed: number): void {
    if (this.#held.length < needed) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 64))
      this.#held.copy(larger, 0, 0, this.#heldBytes)
      this.#held = larger
    }
    chunk.copy(this.#held, this.#heldBytes, from, to)
    this.#heldBytes += to - from
  }

  #resume(chunk: Buffer, from: number): number {
    let at = from
    for (;;) {
      const needed = this.#needed(this.#held, 0, this.#heldBytes)
      if (needed < 0) return chunk.length
      if (this.#heldBytes >= needed) {
        const held = this.#held
        this.#heldBytes = 0
        this.#held = EMPTY
        this.#frame(held, 0, needed)
        return at
      }
      const to = Math.min(chunk.length, at + needed - this.#heldBytes)
      if (to === at) return at
      this.#hold(chunk, at, to, needed)
      at = to
    }
  }

  #frame(bytes: Buffer, at: number, end: number): number {
    const type = bytes[at + 3]!
    const flags = bytes[at + 4]!
    const id = bytes.readUInt32BE(at + 5) & 0x7fffffff
    if (type !== TYPE.data) {
      this.#handler.onFrame(type, flags, id, bytes, at + FRAME_HEAD_BYTES, end)
      return end
    }
    const length = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!
    const isPadded = (flags & FLAG.padded) !== 0
    if (isPadded && length === 0) return this.#broken(ERROR.frameSize)
    this.#paddingLeft = isPadded ? bytes[at + FRAME_HEAD_BYTES]! : 0
    this.bodyLeft = length - this.#paddingLeft - (isPadded ? 1 : 0)
    if (this.bodyLeft < 0) return this.#broken(ERROR.protocol)
    this.#isInData = true
    this.#handler.onDataHead(flags, id, length)
    if (this.bodyLeft + this.#paddingLeft === 0 && !this.isOver) this.#endData(EMPTY, 0, 0)
    return end
  }

  #data(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.bodyLeft)
    const padded = Math.min(chunk.length, end + this.#paddingLeft)
    this.bodyLeft -= end - at
    if (this.bodyLeft === 0) this.#paddingLeft -= padded - end
    const isLast = this.bodyLeft === 0 && this.#paddingLeft === 0
    if (isLast) this.#endData(chunk, at, end)
    else if (end > at) this.#handler.onDataBytes(chunk, at, end, false)
    return this.bodyLeft === 0 ? padded : end
  }

  #endData(bytes: Buffer, from: number, to: number): void {
    this.#isInData = false
    this.#handler.onDataBytes(bytes, from, to, true)
  }
}

const EMPTY = Buffer.alloc(0)
