/**
 * HEADERS and CONTINUATION become one block. All of it is decoded, also where nobody wants it: the table
 * that later blocks are read by changes with each.
 */
import { ERROR, FLAG } from './frames.ts'
import { HpackDecoder, type DecodedBlock, type HeaderLimits } from './hpack-decoder.ts'
import { GatheredBytes } from '../../wire/gathered-bytes.ts'

interface BlockLimits {
  readonly headers: HeaderLimits
  readonly blockBytesMax: number
  readonly blockFramesMax: number
}

const PRIORITY_BYTES = 5

export class HeaderBlocks {
  readonly #limits: BlockLimits
  readonly #decoder: HpackDecoder
  /** Of the block that is read, or was last. */
  id = 0
  isEnd = false
  /** Which no stream may (RFC 7540 section 5.3.1). */
  dependsOnItself = false
  /** There is more of it to come, and nothing else may come before. */
  isOpen = false
  decoded: DecodedBlock = 'invalid'
  #gathered: GatheredBytes | null = null
  #frames = 0

  constructor(limits: BlockLimits) {
    this.#limits = limits
    this.#decoder = new HpackDecoder(limits.headers)
  }

  /** Returns an error of the connection, or none. */
  begin(flags: number, id: number, bytes: Buffer, from: number, to: number): number {
    if (id === 0) return ERROR.protocol
    let start = from
    let end = to
    if ((flags & FLAG.padded) !== 0) {
      if (start >= end) return ERROR.frameSize
      end -= bytes[start++]!
    }
    this.dependsOnItself = false
    if ((flags & FLAG.priority) !== 0) {
      if (end - start >= 4) this.dependsOnItself = (bytes.readUInt32BE(start) & 0x7fffffff) === id
      start += PRIORITY_BYTES
    }
    if (start > end) return (flags & FLAG.padded) === 0 ? ERROR.frameSize : ERROR.protocol
    this.id = id
    this.isEnd = (flags & FLAG.endStream) !== 0
    if ((flags & FLAG.endHeaders) === 0) {
      this.isOpen = true
      this.#frames = 0
      this.#gathered = new GatheredBytes()
      return this.#gather(bytes, start, end)
    }
    this.decoded = this.#decoder.decode(bytes, start, end)
    return ERROR.none
  }

  goOn(flags: number, id: number, bytes: Buffer, from: number, to: number): number {
    const gathered = this.#gathered
    if (!this.isOpen || gathered === null || id !== this.id) return ERROR.protocol
    const error = this.#gather(bytes, from, to)
    if (error !== ERROR.none || (flags & FLAG.endHeaders) === 0) return error
    const block = gathered.take()
    this.isOpen = false
    this.#gathered = null
    this.decoded = this.#decoder.decode(block, 0, block.length)
    return ERROR.none
  }

  #gather(bytes: Buffer, from: number, to: number): number {
    this.#frames++
    this.#gathered!.add(bytes, from, to)
    const { blockBytesMax, blockFramesMax } = this.#limits
    const isTooMuch = this.#frames > blockFramesMax || this.#gathered!.length > blockBytesMax
    return isTooMuch ? ERROR.enhanceYourCalm : ERROR.none
  }
}
