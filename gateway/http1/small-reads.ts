/**
 * How small the pieces are that a client sends: each costs the same, whatever is in it, and over TLS a
 * record of one byte is one. Whoever sends enough beside them sends as many as it likes; the others
 * have what their address may spend.
 */
import { LIMITS } from '../../shared/limits.ts'

interface SmallReadsWorld {
  /** False where nothing is left. */
  spendSmallRead(address: string): boolean
}

export class SmallReads {
  #surplus = 0
  readonly #world: SmallReadsWorld
  readonly #address: string

  constructor(world: SmallReadsWorld, address: string) {
    this.#world = world
    this.#address = address
  }

  /** Of a read that ended in the middle of something. */
  isTooMuch(bytes: number): boolean {
    if (bytes >= LIMITS.smallReadBytes) {
      if (this.#surplus > 0)
        this.#surplus = Math.max(0, this.#surplus - Math.floor(bytes / LIMITS.smallReadBytes))
      return false
    }
    if (this.#surplus < LIMITS.smallReadsFree) {
      this.#surplus++
      return false
    }
    return !this.#world.spendSmallRead(this.#address)
  }
}
