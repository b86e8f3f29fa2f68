/**
 * For what costs the same however little it brings: whoever has spent the budget of its site is not
 * read for a while, and the window of its connection slows it down. What is on its way already is
 * owed. Those who wait go on one after the other, so that they do not all come in one turn.
 */
import type { Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { Spending, type Budget } from './budget.ts'

/** No timer of ours fires more often: what is earned in that time is little. */
const WAIT_MS_MIN = 10
const WAIT_MS_MAX = 1000
/** Who has been read for so long without having to wait begins anew. */
const QUIET_MS = 10_000

export class Throttle extends Spending {
  readonly clock: Clock
  readonly #budget: Budget
  readonly #waiting = new Set<() => void>()
  #isDue = false

  constructor(budget: Budget, clock: Clock) {
    super(budget, clock.nowMs())
    this.clock = clock
    this.#budget = budget
  }

  /** For one more, which has come. False: `goOn` is called when something has been earned. */
  take(goOn: () => void): boolean {
    if (this.owe(this.clock.nowMs()) >= 0) return true
    this.#waiting.add(goOn)
    this.#goOnSoon()
    return false
  }

  leave(goOn: () => void): void {
    this.#waiting.delete(goOn)
  }

  /** It owes as much as it may ever spend at once. */
  get isOverdrawn(): boolean {
    return this.leftAt(this.clock.nowMs()) <= -this.#budget.burst
  }

  #goOnSoon(): void {
    if (this.#isDue) return
    this.#isDue = true
    const missing = 1 - this.leftAt(this.clock.nowMs())
    if (missing <= 0) return void setImmediate(this.#next)
    const waitMs = (missing / this.#budget.perSecond) * 1000
    setTimeout(this.#next, Math.max(WAIT_MS_MIN, Math.min(WAIT_MS_MAX, waitMs))).unref()
  }

  readonly #next = (): void => {
    this.#isDue = false
    const [goOn] = this.#waiting
    if (goOn === undefined) return
    if (!this.isSpent(this.clock.nowMs())) {
      this.#waiting.delete(goOn)
      goOn()
    }
    if (this.#waiting.size > 0) this.#goOnSoon()
  }
}

/** One of those who send what a throttle counts. */
export class ThrottledSender {
  isWaiting = false
  readonly #onGoOn: () => void
  #throttle: Throttle | null = null
  /** Since when it has been made to wait again and again, and until when it last was. */
  #slowedSinceMs = Infinity
  #slowedUntilMs = -Infinity
  #sentWhileWaiting = 0

  constructor(onGoOn: () => void) {
    this.#onGoOn = onGoOn
  }

  /**
   * False where it has gone on for too long, or is one of those that have sent more than any window
   * holds: then its connection is ended. Else `isWaiting` says whether it is to be read.
   */
  send(throttle: Throttle): boolean {
    if (throttle.take(this.#goOn)) return true
    if (this.isWaiting) {
      this.#sentWhileWaiting++
      return this.#sentWhileWaiting <= LIMITS.smallReadsFree || !throttle.isOverdrawn
    }
    this.isWaiting = true
    this.#throttle = throttle
    const nowMs = throttle.clock.nowMs()
    const isNew = nowMs - this.#slowedUntilMs > QUIET_MS
    this.#slowedSinceMs = isNew ? nowMs : Math.min(this.#slowedSinceMs, nowMs)
    return nowMs - this.#slowedSinceMs < LIMITS.throttledMsMax
  }

  /** It has sent something that is worth its cost. */
  forgive(): void {
    this.#slowedSinceMs = Infinity
  }

  leave(): void {
    this.#throttle?.leave(this.#goOn)
  }

  readonly #goOn = (): void => {
    this.isWaiting = false
    this.#slowedUntilMs = this.#throttle!.clock.nowMs()
    this.#sentWhileWaiting = 0
    this.#onGoOn()
  }
}
