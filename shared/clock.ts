/** Time is handed in, so that a two-hour schedule is tested in a millisecond. */
export interface Clock {
  nowMs(): number
}

export const systemClock: Clock = { nowMs: () => Date.now() }

export const SECOND_MS = 1000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

export function nowSeconds(clock: Clock): number {
  return Math.floor(clock.nowMs() / SECOND_MS)
}
