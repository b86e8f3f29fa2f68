/**
 * For what costs the same however little it brings: a site has a budget for it, and whoever sends more
 * is not read for a while; the window of its connection slows it down. What is on its way already is
 * owed by its sender, and by nobody else. Those who wait pay in rotation, a few each, out of what
 * the site earns; who owes nothing is read again. Newcomers stand behind them. So one round takes as long
 * as a few of each who waits, and nobody's debt keeps anybody else from having a turn.
 */
import type { SteadyClock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { Spending, type Budget } from './budget.ts'

/** Until something has been earned. */
const WAIT_MS = 10

export class Throttle extends Spending {
  readonly #clock: SteadyClock
  /** In the order of their turns. */
  readonly #waiting = new Set<ThrottledSender>()
  #isDue = false

  constructor(budget: Budget, clock: SteadyClock) {
    super(budget, clock.steadyMs())
    this.#clock = clock
  }

  /** For one more, which has come. False: its sender waits, and owes it. */
  take(sender: ThrottledSender): boolean {
    if (this.#waiting.size === 0 && this.spend(this.#clock.steadyMs())) return true
    this.#waiting.add(sender)
    this.#nextSoon()
    return false
  }

  leave(sender: ThrottledSender): void {
    this.#waiting.delete(sender)
  }

  #nextSoon(): void {
    if (this.#isDue) return
    this.#isDue = true
    if (this.isSpent(this.#clock.steadyMs())) setTimeout(this.#next, WAIT_MS).unref()
    else setImmediate(this.#next)
  }

  /** As far as it is earned, and until one is read again: not all that they bring in one turn. */
  readonly #next = (): void => {
    this.#isDue = false
    for (const sender of this.#waiting) {
      const few = Math.min(sender.owed, LIMITS.throttledInRotation)
      if (!this.spend(this.#clock.steadyMs(), few)) break
      this.#waiting.delete(sender)
      sender.owed -= few
      if (sender.owed === 0) {
        sender.onGoOn()
        break
      }
      this.#waiting.add(sender)
    }
    if (this.#waiting.size > 0) this.#nextSoon()
  }
}

/** One of those who send what a throttle counts. */
export class ThrottledSender {
  /** What it has sent beyond the budget, and has not paid for yet. */
  owed = 0
  readonly onGoOn: () => void
  #throttle: Throttle | null = null

  constructor(onGoOn: () => void) {
    this.onGoOn = onGoOn
  }

  /** It is not to be read. */
  get isWaiting(): boolean {
    return this.owed > 0
  }

  /** For one more. False where it owes more than an honest one can have on its way: it has to end. */
  send(throttle: Throttle): boolean {
    if (!this.isWaiting && throttle.take(this)) return true
    this.#throttle = throttle
    this.owed++
    return this.owed <= LIMITS.throttledOwedMax
  }

  leave(): void {
    this.#throttle?.leave(this)
  }
}
