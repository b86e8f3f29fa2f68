/**
 * Connectors come back all at once, after an outage or a restart of ours, and each of their handshakes
 * takes as long as a hundred requests. They have a pace of their own, behind all visitors; whoever would
 * wait for too long is refused before anything was computed for it, and comes again by its backoff.
 */
import { Spending, type Budget } from '../wire/budget.ts'
import { HandshakeQueue, type Queued } from './handshake-queue.ts'

interface ConnectorHandshakesOptions {
  readonly pace: Budget
  readonly waitingMsMax: number
  readonly nowMs: number
}

export class ConnectorHandshakes<Item extends Queued> {
  readonly #pace: Spending
  readonly #waitingMax: number
  /** Without which its tenant is not served at all. */
  readonly #first = new HandshakeQueue<Item>()
  readonly #spare = new HandshakeQueue<Item>()

  constructor({ pace, waitingMsMax, nowMs }: ConnectorHandshakesOptions) {
    this.#pace = new Spending(pace, nowMs)
    this.#waitingMax = pace.burst + Math.floor((pace.perSecond * waitingMsMax) / 1000)
  }

  get size(): number {
    return this.#first.size + this.#spare.size
  }

  /** False: as many wait as can have their turn in time. */
  add(item: Item, isSpare: boolean): boolean {
    if (this.size >= this.#waitingMax) return false
    const queue = isSpare ? this.#spare : this.#first
    queue.add(item)
    return true
  }

  delete(item: Item): void {
    this.#first.delete(item)
    this.#spare.delete(item)
  }

  next(nowMs: number): Item | undefined {
    if (this.size === 0 || this.#pace.isSpent(nowMs)) return undefined
    const item = this.#first.next(nowMs) ?? this.#spare.next(nowMs)
    if (item !== undefined) this.#pace.spend(nowMs)
    return item
  }
}
