/**
 * Where large pieces of answers lie until their streams have sent them. A new buffer for each would be
 * so much memory outside the heap that V8 collects everything, old objects included, every few hundred
 * answers.
 */
const SIZES = [64 * 1024, 128 * 1024] as const
/** Of each size. */
const KEPT_BYTES_MAX = 2 * 1024 * 1024

export class BodyBuffers {
  readonly #kept: readonly Buffer[][] = SIZES.map(() => [])

  /** At most twice as large as it has to be; null where one of its own costs less. */
  lend(bytes: number): Buffer | null {
    if (bytes <= SIZES[0] / 2 || bytes > SIZES[1]) return null
    const index = bytes > SIZES[0] ? 1 : 0
    return this.#kept[index]!.pop() ?? Buffer.allocUnsafeSlow(SIZES[index])
  }

  /** Nobody reads it any more. */
  giveBack(lent: Buffer): void {
    const kept = this.#kept[lent.length > SIZES[0] ? 1 : 0]!
    if (kept.length * lent.length < KEPT_BYTES_MAX) kept.push(lent)
  }
}
