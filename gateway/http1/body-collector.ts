/** A whole request body in memory, for our own forms, up to a limit. */
import { BodyTooLarge } from '../exchange.ts'

export class BodyCollector {
  readonly body: Promise<Buffer>
  readonly #bytesMax: number
  readonly #chunks: Buffer[] = []
  #bytes = 0
  #resolve!: (body: Buffer) => void
  #reject!: (error: Error) => void

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
    this.body = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  add(chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#bytes <= this.#bytesMax) this.#chunks.push(chunk)
    else this.fail(new BodyTooLarge('the body is too large'))
  }

  end(): void {
    this.#resolve(Buffer.concat(this.#chunks))
  }

  fail(error: Error): void {
    this.#chunks.length = 0
    this.#reject(error)
  }
}
