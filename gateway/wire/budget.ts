/** So many at once, then so many a second: for what is cheap to send and costs us to answer. */
export interface Budget {
  readonly burst: number
  readonly perSecond: number
}

export class Spending {
  readonly #budget: Budget
  #left: number
  #countedMs: number

  constructor(budget: Budget, nowMs: number) {
    this.#budget = budget
    this.#left = budget.burst
    this.#countedMs = nowMs
  }

  /** False where nothing is left. More than is left is owed. */
  spend(nowMs: number, count = 1): boolean {
    const left = this.leftAt(nowMs)
    if (left < 1) return false
    this.#left = left - count
    this.#countedMs = nowMs
    return true
  }

  /** What has been done already, however little is left. */
  charge(nowMs: number, count: number): void {
    this.#left = this.leftAt(nowMs) - count
    this.#countedMs = nowMs
  }

  /** `spend` would say false. */
  isSpent(nowMs: number): boolean {
    return this.leftAt(nowMs) < 1
  }

  /** As good as a new one. */
  isFull(nowMs: number): boolean {
    return this.leftAt(nowMs) >= this.#budget.burst
  }

  leftAt(nowMs: number): number {
    const { burst, perSecond } = this.#budget
    // Who asks by the last sweep is behind who asked the clock: that earns nothing, and owes nothing.
    this.#countedMs = Math.min(this.#countedMs, nowMs)
    const earned = ((nowMs - this.#countedMs) / 1000) * perSecond
    return Math.min(burst, this.#left + earned)
  }
}
