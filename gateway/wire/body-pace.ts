/**
 * How fast a body comes: a byte now and then would hold a place at the application for as long as
 * its sender likes. Looked at when bytes arrive, so it costs no timer; whoever sends none at all
 * meets the idle deadline.
 */
import { LIMITS } from '../../shared/limits.ts'

export class BodyPace {
  #sinceMs: number
  #bytes = 0

  constructor(nowMs: number) {
    this.#sinceMs = nowMs
  }

  /** It is the sender's turn from now on. */
  begin(nowMs: number): void {
    this.#sinceMs = nowMs
    this.#bytes = 0
  }

  /** True where less came over the last whole span than has to. */
  isTooSlow(bytes: number, nowMs: number, spanMs: number): boolean {
    this.#bytes += bytes
    const tookMs = nowMs - this.#sinceMs
    if (tookMs < spanMs) return false
    const isTooSlow = this.#bytes * 1000 < LIMITS.progressBytesPerSecondMin * tookMs
    this.begin(nowMs)
    return isTooSlow
  }
}
