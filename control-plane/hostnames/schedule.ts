/** When a hostname is looked at again. Pure. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../shared/clock.ts'

/** A record is there after minutes as a rule; what is not there after days is looked for once a day. */
const PAUSES_MS = [
  MINUTE_MS,
  2 * MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  HOUR_MS,
  6 * HOUR_MS,
  DAY_MS,
] as const

/** Until the record of a hostname that is proven is looked for again. */
export const PROVEN_PAUSE_MS = DAY_MS
/** The same while it is gone: often enough that one bad hour of a name server counts for little. */
export const MISSING_PAUSE_MS = 6 * HOUR_MS

/** `looks`: with this one. */
export function pauseMs(looks: number): number {
  return PAUSES_MS[Math.min(looks, PAUSES_MS.length) - 1] ?? DAY_MS
}
