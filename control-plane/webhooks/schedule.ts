/** When a delivery is tried again. The table is the contract; the arithmetic sees no clock. */
import { MINUTE_MS, SECOND_MS } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'

/** A restart, a deploy, a lunch: six attempts over two hours. */
export const RETRY_GAPS_MS = [
  15 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  25 * MINUTE_MS,
  90 * MINUTE_MS,
] as const

/** So that what failed at the same moment does not come back at the same moment. */
const JITTER = 0.1

/** Whoever is at a delivery has an answer by then, and has written it down; or has died. */
export const LEASE_MS = LIMITS.webhookMsMax + 7 * SECOND_MS

/** `random` is from 0 up to 1. undefined: it was the last attempt. */
export function retryAtMs(attempts: number, nowMs: number, random: number): number | undefined {
  const gapMs = RETRY_GAPS_MS[attempts - 1]
  if (gapMs === undefined || attempts >= LIMITS.webhookAttemptsMax) return undefined
  return nowMs + Math.round(gapMs * (1 - JITTER + 2 * JITTER * random))
}
