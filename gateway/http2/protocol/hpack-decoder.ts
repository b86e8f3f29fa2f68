/**
 * Header blocks of a client (RFC 7541), read strictly: what no encoder writes is an error of the whole
 * connection, since nobody knows any more what later blocks mean. A block that is too much is read to
 * its end, but not kept.
 */
import { huffmanText } from './huffman.ts'
import {
  ENTRY_BYTES,
  STATIC_COUNT,
  STATIC_NAMES,
  STATIC_VALUES,
  TABLE_BYTES,
} from './static-table.ts'

export interface HeaderLimits {
  /** Names, values, and 32 bytes for each of them. */
  readonly listBytesMax: number
  readonly fieldsMax: number
}

/** `fields`: name, value, name, value. */
export type DecodedBlock = { readonly fields: readonly string[] } | 'invalid' | 'too-large'

/** Of blocks as short as these the last ones are remembered: a browser repeats itself. */
const REMEMBERED_BYTES_MAX = 512
const REMEMBERED_MAX = 8
/** 28 bits: more than any length here may be. */
const CONTINUED_MAX = 4

export class HpackDecoder {
  readonly #limits: HeaderLimits
  /** The newest entry is the last one of each. */
  #names: string[] = []
  #values: string[] = []
  #oldest = 0
  #bytes = 0
  #bytesMax = TABLE_BYTES
  /** Blocks that changed nothing of the table, as long as it stays what it is. */
  readonly #remembered = new Map<string, DecodedBlock>()
  // where the block that is read stands
  #block: Buffer = EMPTY
  #at = 0
  #end = 0
  #isValid = true
  #hasChanged = false

  constructor(limits: HeaderLimits) {
    this.#limits = limits
  }

  decode(block: Buffer, from: number, to: number): DecodedBlock {
    const key = to - from <= REMEMBERED_BYTES_MAX ? block.toString('latin1', from, to) : ''
    const known = this.#remembered.get(key)
    if (known !== undefined) return known
    this.#hasChanged = false
    const decoded = this.#read(block, from, to)
    this.#block = EMPTY
    if (this.#hasChanged) this.#remembered.clear()
    else if (key !== '' && decoded !== 'invalid') {
      if (this.#remembered.size >= REMEMBERED_MAX) this.#remembered.clear()
      this.#remembered.set(key, decoded)
    }
    return decoded
  }

  #read(block: Buffer, from: number, to: number): DecodedBlock {
    this.#block = block
    this.#at = from
    this.#end = to
    this.#isValid = true
    const { listBytesMax, fieldsMax } = this.#limits
    const fields: string[] = []
    let bytes = 0
    let count = 0
    while (this.#at < to) {
      const first = block[this.#at]!
      if (first >= 0x20 && first < 0x40) {
        // Section 4.2: a change of size stands before all fields.
        if (count > 0) return 'invalid'
        const size = this.#integer(0x1f)
        if (!this.#isValid || size > TABLE_BYTES) return 'invalid'
        this.#bytesMax = size
        this.#evict(0)
        this.#hasChanged = true
        continue
      }
      let name: string
      let value: string
      if (first >= 0x80) {
        const index = this.#integer(0x7f)
        if (!this.#isValid || !this.#isKnown(index)) return 'invalid'
        name = this.#nameOf(index)
        value = this.#valueOf(index)
      } else {
        const isKept = first >= 0x40
        const index = this.#integer(isKept ? 0x3f : 0x0f)
        if (!this.#isValid || (index > 0 && !this.#isKnown(index))) return 'invalid'
        name = index === 0 ? this.#text() : this.#nameOf(index)
        value = this.#text()
        if (!this.#isValid) return 'invalid'
        if (isKept) this.#keep(name, value)
      }
      count++
      bytes += name.length + value.length + ENTRY_BYTES
      if (bytes <= listBytesMax && count <= fieldsMax) fields.push(name, value)
    }
    return bytes > listBytesMax || count > fieldsMax ? 'too-large' : { fields }
  }

  #isKnown(index: number): boolean {
    return index > 0 && index <= STATIC_COUNT + this.#names.length - this.#oldest
  }

  #nameOf(index: number): string {
    if (index <= STATIC_COUNT) return STATIC_NAMES[index]!
    return this.#names[this.#names.length - (index - STATIC_COUNT)]!
  }

  #valueOf(index: number): string {
    if (index <= STATIC_COUNT) return STATIC_VALUES[index]!
    return this.#values[this.#values.length - (index - STATIC_COUNT)]!
  }

  /** `mask`: the bits of the first byte that belong to it (section 5.1). */
  #integer(mask: number): number {
    const block = this.#block
    let value = block[this.#at++]! & mask
    if (value < mask) return value
    for (let shift = 0; shift < 7 * CONTINUED_MAX; shift += 7) {
      if (this.#at >= this.#end) break
      const byte = block[this.#at++]!
      value += (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    this.#isValid = false
    return 0
  }

  #text(): string {
    if (!this.#isValid || this.#at >= this.#end) return this.#invalid()
    const isPacked = this.#block[this.#at]! >= 0x80
    const length = this.#integer(0x7f)
    const from = this.#at
    if (!this.#isValid || length > this.#end - from) return this.#invalid()
    this.#at = from + length
    if (!isPacked) return this.#block.toString('latin1', from, this.#at)
    return huffmanText(this.#block, from, this.#at) ?? this.#invalid()
  }

  #invalid(): '' {
    this.#isValid = false
    return ''
  }

  #keep(name: string, value: string): void {
    this.#hasChanged = true
    const bytes = name.length + value.length + ENTRY_BYTES
    this.#evict(bytes)
    // Section 4.4: one that is too large for the table leaves it empty.
    if (bytes > this.#bytesMax) return
    this.#names.push(name)
    this.#values.push(value)
    this.#bytes += bytes
  }

  /** Until there is room for so much more. */
  #evict(bytes: number): void {
    while (this.#oldest < this.#names.length && this.#bytes + bytes > this.#bytesMax) {
      const at = this.#oldest++
      this.#bytes -= this.#names[at]!.length + this.#values[at]!.length + ENTRY_BYTES
      this.#names[at] = this.#values[at] = ''
    }
    if (this.#oldest < SPENT_MAX) return
    this.#names = this.#names.slice(this.#oldest)
    this.#values = this.#values.slice(this.#oldest)
    this.#oldest = 0
  }
}

const EMPTY = Buffer.alloc(0)
/** Places of entries that are gone; more than fit into a table. */
const SPENT_MAX = 256
