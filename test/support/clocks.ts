/** Clocks for tests: one number for both of them, where nobody sets the one on the wall. */
import type { Clock } from '../../shared/clock.ts'

/** One that somebody can set, while time goes on by itself. */
export function settableClock() {
  let [steadyMs, wrongByMs] = [1000, 0]
  return {
    nowMs: () => 1_800_000_000_000 + steadyMs + wrongByMs,
    steadyMs: () => steadyMs,
    set: (byMs: number) => void (wrongByMs += byMs),
    pass: (ms: number) => void (steadyMs += ms),
  }
}

export const clockOf = (nowMs: () => number): Clock => ({ nowMs, steadyMs: nowMs })
