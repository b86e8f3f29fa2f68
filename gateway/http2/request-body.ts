/** The body of a request: what it is read for, how much of it came, and who waits for it how long. */
import { BodyCollector } from '../wire/body-collector.ts'
import { BODY_USE } from '../wire/body-use.ts'
import { BodyUnreadable } from '../wire/exchange.ts'
import { GatheredBytes } from '../wire/gathered-bytes.ts'
import { BodyTurn } from './body-turn.ts'
import type { UnreadBody } from './unread-body.ts'
import type { UnwantedBody } from './unwanted-body.ts'

export class RequestBody {
  readonly turn = new BodyTurn()
  use: number = BODY_USE.held
  isDone: boolean
  trailers = ''
  /** What is still to come of it when it has its answer. */
  unwanted: UnwantedBody | null = null
  /** What came while nobody took it. */
  #unread: UnreadBody | null = null
  /** Negative: not said. */
  readonly #length: number
  #bytes = 0
  #gathered: GatheredBytes | null = null
  #collector: BodyCollector | null = null

  constructor(length: number, isDone: boolean) {
    this.#length = length
    this.isDone = isDone
  }

  heldBy(unread: UnreadBody): void {
    this.#unread = unread
    unread.belongTo(this.turn)
  }

  /** It is none: what comes from now on is for whoever counts it himself. */
  release(onSmallJoined: () => void): void {
    this.#unread?.release(onSmallJoined)
    this.end()
  }

  collect(bytesMax: number): BodyCollector {
    this.#collector = new BodyCollector(bytesMax)
    return this.#collector
  }

  /**
   * False: more than was said. The protocol has compared both already; one byte too many would be the
   * start of a request of its own for the application.
   */
  count(bytes: number): boolean {
    this.#bytes += bytes
    return this.#length < 0 || this.#bytes <= this.#length
  }

  get isWhole(): boolean {
    return this.#length < 0 || this.#bytes === this.#length
  }

  /** For whoever wants it whole. */
  keep(chunk: Buffer): void {
    if (this.use === BODY_USE.gathered)
      (this.#gathered ??= new GatheredBytes(this.#length)).give(chunk)
    else this.#collector!.add(chunk)
  }

  /** To whom has asked for it. */
  handOver(): void {
    this.#collector!.end()
  }

  takeText(): string {
    return this.#gathered?.take().toString('latin1') ?? ''
  }

  forget(): void {
    this.#gathered = null
  }

  /** All of it is here. */
  end(): void {
    this.isDone = true
    this.unwanted = null
    this.turn.deadlineMs = Infinity
  }

  fail(detail: string): void {
    this.#collector?.fail(new BodyUnreadable(detail))
  }

  get deadlineMs(): number {
    if (this.unwanted === null) return this.turn.deadlineMs
    return Math.min(this.turn.deadlineMs, this.unwanted.deadlineMs)
  }
}
