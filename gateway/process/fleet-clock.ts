/**
 * This machine's clock, put right by what the control plane says (fleet/told-time.ts). Set back, it
 * goes on as time does; after a sleep of the machine, it is the one that knows.
 */
import { steadyMs, type Clock } from '../../shared/clock.ts'
import type { Correction } from '../fleet/told-time.ts'

export class FleetClock implements Clock {
  #correction: Correction = { wallMs: 0, machineMs: -Infinity }

  nowMs(): number {
    const { wallMs, machineMs: sinceStartMs } = this.#correction
    return Math.max(Date.now() + wallMs, Math.floor(steadyMs() + sinceStartMs))
  }

  readonly steadyMs = steadyMs

  readonly correct = (correction: Correction): void => {
    this.#correction = correction
  }
}
