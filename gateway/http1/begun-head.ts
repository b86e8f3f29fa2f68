/**
 * What has come of a head that is not all here. Over TLS each record comes by itself, and a head may
 * come in a record for each byte: so it is looked at once in a turn of the event loop.
 */
import { LIMITS } from '../../shared/limits.ts'
import { GatheredBytes } from '../wire/gathered-bytes.ts'

export class BegunHead {
  readonly #gathered = new GatheredBytes()
  readonly #look: () => void
  #isDue = false
  /** Its first bytes have come, and the head that they begin has not. */
  isBegun = false

  /** `look` takes it, and keeps it again if it is still not whole. */
  constructor(look: () => void) {
    this.#look = look
  }

  get isEmpty(): boolean {
    return this.#gathered.length === 0
  }

  keep(buffer: Buffer, from: number, to: number): void {
    this.isBegun = true
    this.#gathered.add(buffer, from, to)
  }

  add(buffer: Buffer, bytes: number): void {
    this.#gathered.add(buffer, 0, bytes)
    // It is whole, or too long; and whoever sends on is not to be read on.
    if (this.#gathered.length > LIMITS.headBytesMax) return this.#look()
    if (this.#isDue) return
    this.#isDue = true
    setImmediate(this.#onTurn)
  }

  take(): Buffer {
    return this.#gathered.take()
  }

  readonly #onTurn = (): void => {
    this.#isDue = false
    if (!this.isEmpty) this.#look()
  }
}
