/** Time is handed in, so that a two-hour schedule is tested in a millisecond. */

/**
 * What time it is, for what is compared with times from elsewhere: of tokens, snapshots, files and
 * other machines. People and time services set it, forward and back.
 */
export interface WallClock {
  nowMs(): number
}

/** How long something takes, or may take. Nobody sets it, and what it begins at means nothing. */
export interface SteadyClock {
  steadyMs(): number
}

export interface Clock extends WallClock, SteadyClock {}

/** From the machine's start on, so that its programs may compare theirs. */
const STARTED_MS = Number(process.hrtime.bigint() / 1_000_000n) - performance.now()
export const steadyMs = (): number => STARTED_MS + performance.now()

export const systemClock: Clock = { nowMs: () => Date.now(), steadyMs }

export const SECOND_MS = 1000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

export function nowSeconds(clock: WallClock): number {
  return Math.floor(clock.nowMs() / SECOND_MS)
}
