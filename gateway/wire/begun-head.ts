/**
 * What has come of a head that is not all here. Over TLS each record comes by itself, and a head may
 * come in a record for each byte: so it is looked at when its first line has come, when there may be
 * all of it, and when it is too long.
 */
import { GatheredBytes } from './gathered-bytes.ts'

const CR = 13
const LF = 10

export class BegunHead {
  readonly #gathered = new GatheredBytes()
  readonly #bytesMax: number
  readonly #look: () => void
  #isFirstLine = true
  #isLineEmpty = true
  /** Its first bytes have come, and the head that they begin has not. */
  isBegun = false

  /** `look` takes it, and keeps it again if it is still not whole. */
  constructor(bytesMax: number, look: () => void) {
    this.#bytesMax = bytesMax
    this.#look = look
  }

  get isEmpty(): boolean {
    return this.#gathered.length === 0
  }

  keep(buffer: Buffer, from: number, to: number): void {
    this.isBegun = true
    this.#isFirstLine = this.#isLineEmpty = true
    this.#isWorthALook(buffer, from, to)
    this.#gathered.add(buffer, from, to)
  }

  add(buffer: Buffer, bytes: number): void {
    this.#gathered.add(buffer, 0, bytes)
    const isWorthIt = this.#isWorthALook(buffer, 0, bytes)
    if (isWorthIt || this.#gathered.length > this.#bytesMax) this.#look()
  }

  take(): Buffer {
    return this.#gathered.take()
  }

  /** The first line ends in it, or an empty one, whatever ends a line. */
  #isWorthALook(buffer: Buffer, from: number, to: number): boolean {
    let isWorthIt = false
    for (let at = from; at < to; at++) {
      const byte = buffer[at]
      if (byte === LF) {
        isWorthIt ||= this.#isFirstLine || this.#isLineEmpty
        this.#isFirstLine = false
        this.#isLineEmpty = true
      } else if (byte !== CR) this.#isLineEmpty = false
    }
    return isWorthIt
  }
}
