/** This machine's clock, put right by what the control plane says (fleet/told-time.ts). */
import type { Clock } from '../../shared/clock.ts'

export class FleetClock implements Clock {
  #correctionMs = 0

  nowMs(): number {
    return Date.now() + this.#correctionMs
  }

  readonly correct = (ms: number): void => {
    this.#correctionMs = ms
  }
}
