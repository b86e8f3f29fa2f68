/**
 * Header blocks for a client (RFC 7541). A field that comes with the same value twice in a row goes into
 * the table, and is one byte from then on: of an application's answers most lines are.
 */
import { huffmanLength, writeHuffman } from './huffman.ts'
import {
  ENTRY_BYTES,
  STATIC_COUNT,
  STATIC_INDEX,
  STATIC_VALUES,
  TABLE_BYTES,
} from './static-table.ts'

/** What was last sent under a name. */
interface Last {
  readonly name: string
  /** In the static table; 0 where it has none. */
  readonly index: number
  value: string
  /** The number of its entry, counted from the first one of the connection; 0: none. */
  entry: number
}

/** Who guesses at these by what a block costs has to guess all of it (section 7.1.3). */
const NEVER_KEPT: ReadonlySet<string> = new Set(['set-cookie', 'authorization', 'cookie'])
const NAMES_MAX = 128
const HUFFMAN_CHARACTERS_MAX = 256

export class HpackEncoder {
  readonly #last = new Map<string, Last>()
  /** Of entries that are in the table, oldest first. */
  readonly #sizes: number[] = []
  #newest = 0
  #bytes = 0
  #bytesMax = TABLE_BYTES
  /** The smallest since the last block; that is told before the next. */
  #told = TABLE_BYTES
  #smallest = TABLE_BYTES

  /** What the client says its table may hold. */
  setTableBytes(bytes: number): void {
    this.#bytesMax = Math.min(bytes, TABLE_BYTES)
    this.#smallest = Math.min(this.#smallest, this.#bytesMax)
    this.#evict(0)
  }

  /** At most so many bytes for so many characters of names and values. */
  static bytesMax(characters: number, fields: number): number {
    return 16 + characters + 16 * fields
  }

  /** Returns where it ends. `fields`: name, value, name, value, one byte a character. */
  encode(fields: readonly string[], to: Buffer, start: number): number {
    let end = this.#tellSize(to, start)
    for (let at = 0; at < fields.length; at += 2)
      end = this.#field(fields[at]!, fields[at + 1]!, to, end)
    return end
  }

  #tellSize(to: Buffer, start: number): number {
    let end = start
    if (this.#smallest < this.#told) end = integer(0x20, 0x1f, this.#smallest, to, end)
    if (this.#bytesMax !== Math.min(this.#told, this.#smallest))
      end = integer(0x20, 0x1f, this.#bytesMax, to, end)
    this.#told = this.#smallest = this.#bytesMax
    return end
  }

  #field(name: string, value: string, to: Buffer, start: number): number {
    const last = this.#last.get(name) ?? this.#meet(name)
    if (value !== last.value) {
      last.value = value
      last.entry = 0
      const { index } = last
      if (index > 0 && index < LAST_WITH_VALUE) {
        const known = staticIndex(name, index, value)
        if (known > 0) return integer(0x80, 0x7f, known, to, start)
      }
      return this.#literal(last, NEVER_KEPT.has(name) ? 0x10 : 0, 0x0f, to, start)
    }
    if (last.entry > this.#newest - this.#sizes.length)
      return integer(0x80, 0x7f, STATIC_COUNT + 1 + this.#newest - last.entry, to, start)
    const bytes = name.length + value.length + ENTRY_BYTES
    const { index } = last
    if (index > 0 && index < LAST_WITH_VALUE) {
      const known = staticIndex(name, index, value)
      if (known > 0) return integer(0x80, 0x7f, known, to, start)
    }
    if (NEVER_KEPT.has(name)) return this.#literal(last, 0x10, 0x0f, to, start)
    if (4 * bytes > this.#bytesMax) return this.#literal(last, 0, 0x0f, to, start)
    const end = this.#literal(last, 0x40, 0x3f, to, start)
    this.#evict(bytes)
    this.#sizes.push(bytes)
    this.#bytes += bytes
    last.entry = ++this.#newest
    return end
  }

  #meet(name: string): Last {
    if (this.#last.size >= NAMES_MAX) this.#last.clear()
    const met = { name, index: STATIC_INDEX.get(name) ?? 0, value: '\n', entry: 0 }
    this.#last.set(name, met)
    return met
  }

  #literal(last: Last, kind: number, mask: number, to: Buffer, start: number): number {
    let end = integer(kind, mask, last.index, to, start)
    if (last.index === 0) end = text(last.name, to, end, false)
    // Only what is sent again is worth being packed.
    return text(last.value, to, end, kind === 0x40)
  }

  #evict(bytes: number): void {
    while (this.#sizes.length > 0 && this.#bytes + bytes > this.#bytesMax)
      this.#bytes -= this.#sizes.shift()!
  }
}

/** The last entry of the static table that an answer may use whole (`:status 500`), and one more. */
const LAST_WITH_VALUE = 15

function staticIndex(name: string, first: number, value: string): number {
  if (name !== ':status') return 0
  for (let index = first; index < LAST_WITH_VALUE; index++)
    if (STATIC_VALUES[index] === value) return index
  return 0
}

function integer(kind: number, mask: number, value: number, to: Buffer, start: number): number {
  let end = start
  if (value < mask) {
    to[end++] = kind | value
    return end
  }
  to[end++] = kind | mask
  let rest = value - mask
  for (; rest >= 0x80; rest >>>= 7) to[end++] = (rest & 0x7f) | 0x80
  to[end++] = rest
  return end
}

function text(value: string, to: Buffer, start: number, mayPack: boolean): number {
  const { length } = value
  if (mayPack && length <= HUFFMAN_CHARACTERS_MAX) {
    const packed = huffmanLength(value)
    if (packed < length) return writeHuffman(value, to, integer(0x80, 0x7f, packed, to, start))
  }
  const at = integer(0, 0x7f, length, to, start)
  return at + to.write(value, at, length, 'latin1')
}
