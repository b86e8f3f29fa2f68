/**
 * A body in one place, however small the pieces were that it came in: a buffer for each would cost
 * a hundred times what its sender has sent. What is held is at most twice what has come.
 */
const FIRST_BYTES = 64
const EMPTY = Buffer.alloc(0)

export class GatheredBytes {
  length = 0
  #bytes: Buffer = EMPTY
  readonly #wholeLength: number

  /** `wholeLength`: how much it will be, where that is known. */
  constructor(wholeLength = -1) {
    this.#wholeLength = wholeLength
  }

  /** Copies. */
  add(piece: Buffer, from = 0, to = piece.length): void {
    piece.copy(this.#roomFor(to - from), this.length, from, to)
    this.length += to - from
  }

  /** One byte a character. */
  addText(text: string): void {
    this.#roomFor(text.length).write(text, this.length, 'latin1')
    this.length += text.length
  }

  /** The caller gives the piece away: what is all of it need not be copied. */
  give(piece: Buffer): void {
    if (this.length > 0 || piece.length !== this.#wholeLength) return this.add(piece)
    this.#bytes = piece
    this.length = piece.length
  }

  /** All of it; what comes from now on is gathered anew. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.length)
    this.#bytes = EMPTY
    this.length = 0
    return taken
  }

  #roomFor(bytes: number): Buffer {
    const needed = this.length + bytes
    if (needed <= this.#bytes.length) return this.#bytes
    const twice = Math.max(FIRST_BYTES, 2 * needed)
    const isNear = needed <= this.#wholeLength && this.#wholeLength < twice
    const larger = Buffer.allocUnsafeSlow(isNear ? this.#wholeLength : twice)
    this.#bytes.copy(larger, 0, 0, this.length)
    return (this.#bytes = larger)
  }
}
