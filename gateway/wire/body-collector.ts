/** A whole request body in memory, for our own forms, up to a limit. */
import { BodyTooLarge } from './exchange.ts'
import { GatheredBytes } from './gathered-bytes.ts'

export class BodyCollector {
  readonly body: Promise<Buffer>
  readonly #bytesMax: number
  readonly #gathered = new GatheredBytes()
  #resolve!: (body: Buffer) => void
  #reject!: (error: Error) => void

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
    this.body = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  /** Copies. */
  add(piece: Buffer, from = 0, to = piece.length): void {
    if (this.#gathered.length + to - from <= this.#bytesMax) this.#gathered.add(piece, from, to)
    else this.fail(new BodyTooLarge('the body is too large'))
  }

  end(): void {
    this.#resolve(this.#gathered.take())
  }

  fail(error: Error): void {
    this.#gathered.take()
    this.#reject(error)
  }
}
