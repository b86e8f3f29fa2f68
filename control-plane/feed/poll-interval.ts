/**
 * How long an instance waits before it asks again: as often as revocations deserve while few ask,
 * and so rarely that all of them together stay under one rate while many do. In steps that it does
 * not leave at once, because the answer is part of the state and changes its ETag for everybody
 * (.docs/decisions/0011-poll-interval.md).
 */
import { LIMITS } from '../../shared/limits.ts'

export const POLL_STEPS_SECONDS = [1, 2, 3, 5, 8, 12, 20, 30] as const
const SECONDS_MAX = POLL_STEPS_SECONDS.at(-1)!

/** A shorter interval has to have so much room to spare. */
const CALM_SHARE = 0.8

export function pollInterval(pollingInstances: number, currentSeconds: number): number {
  const needed = stepFor(pollingInstances)
  if (needed >= currentSeconds) return needed
  return Math.min(currentSeconds, stepFor(pollingInstances / CALM_SHARE))
}

function stepFor(instances: number): number {
  const fits = (seconds: number) => instances <= seconds * LIMITS.feedPollsPerSecondMax
  return POLL_STEPS_SECONDS.find(fits) ?? SECONDS_MAX
}
