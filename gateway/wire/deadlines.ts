/**
 * All time-outs of one wire through one coarse sweep: to set a deadline is to write a number, so
 * no request pays for a timer. Late by at most the interval. A wall clock has no part in it: set
 * forward it would end everybody, and set back nobody who has vanished.
 */
import type { SteadyClock } from '../../shared/clock.ts'

export interface Deadlined {
  /** Infinity while nothing is awaited. */
  deadlineMs: number
  onDeadline(nowMs: number): void
}

export class Deadlines {
  /**
   * The steady clock as of the last sweep: near enough to set a deadline by, and free, where asking
   * it several times a request is not.
   */
  nowMs: number
  readonly #clock: SteadyClock
  readonly #intervalMs: number
  readonly #items = new Set<Deadlined>()
  #timer: NodeJS.Timeout | null = null

  constructor(clock: SteadyClock, intervalMs = 250) {
    this.#clock = clock
    this.#intervalMs = intervalMs
    this.nowMs = clock.steadyMs()
  }

  add(item: Deadlined): void {
    this.#items.add(item)
    if (this.#timer !== null) return
    this.nowMs = this.#clock.steadyMs()
    this.#timer = setInterval(() => this.sweep(), this.#intervalMs).unref()
  }

  delete(item: Deadlined): void {
    this.#items.delete(item)
    if (this.#items.size === 0) this.#stop()
  }

  sweep(): void {
    const nowMs = this.#clock.steadyMs()
    this.nowMs = nowMs
    for (const item of this.#items) if (item.deadlineMs <= nowMs) item.onDeadline(nowMs)
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  close(): void {
    this.#stop()
    this.#items.clear()
  }
}
