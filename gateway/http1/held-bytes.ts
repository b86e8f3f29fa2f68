/** What a client has sent and nobody has taken yet: a stretch of a buffer, which may be borrowed. */
export class HeldBytes {
  buffer: Buffer | null = null
  at = 0
  to = 0
  /** It is what is held, or null: a buffer of our own that more fits into. */
  #room: Buffer | null = null

  set(buffer: Buffer, from: number, to: number): void {
    this.buffer = buffer
    this.at = from
    this.to = to
  }

  /** Over TLS each record comes by itself, and some come while nobody wants any. Copies. */
  add(piece: Buffer, bytes: number): void {
    if (this.buffer === null) return this.set(piece, 0, bytes)
    if (this.buffer !== this.#room || this.to + bytes > this.buffer.length) {
      const length = this.to - this.at
      this.#room = Buffer.allocUnsafeSlow(2 * (length + bytes))
      this.buffer.copy(this.#room, 0, this.at, this.to)
      this.set(this.#room, 0, length)
    }
    piece.copy(this.#room, this.to, 0, bytes)
    this.to += bytes
  }

  consume(to: number): void {
    if (to >= this.to) this.clear()
    else this.at = to
  }

  clear(): void {
    this.buffer = this.#room = null
  }

  /** Whatever of it is in `borrowed` is copied. */
  own(borrowed: Buffer): void {
    if (this.buffer !== borrowed) return
    const rest = Buffer.from(borrowed.subarray(this.at, this.to))
    this.set(rest, 0, rest.length)
  }
}
