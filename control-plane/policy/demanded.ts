/**
 * What machines have had to meet, one entry for each change of it: days of grace count from when
 * something was first asked, however often the policy is saved for something else.
 */
import { DAY_MS } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { DevicePolicy } from './policies.ts'

/** What a machine can mend, and so has days of grace for. */
export type Demands = Pick<
  DevicePolicy,
  'facts' | 'unknown' | 'min_os' | 'min_agent' | 'fresh_hours'
>

export interface Demanded extends Demands {
  /** Epoch milliseconds; until the next one begins. */
  readonly since: number
}

export function demandedFrom(
  { facts, unknown, min_os, min_agent, fresh_hours }: Demands,
  since: number,
): Demanded {
  return { facts, unknown, min_os, min_agent, fresh_hours, since }
}

/**
 * Oldest first, with what is asked from now on as the last one. Where nobody was stopped before, or
 * nobody is from now on, all of it begins anew.
 */
export function demandedNext(
  known: readonly Demanded[],
  before: DevicePolicy,
  after: DevicePolicy,
  nowMs: number,
): readonly Demanded[] {
  const next = demandedFrom(after, nowMs)
  const last = known.at(-1)
  if (last === undefined || before.require !== after.require || before.mode !== after.mode)
    return [next]
  if (isSame(last, next)) return known
  const all = [...known, next]
  // what was asked for longer than anybody has days of grace is where counting ends
  const longAgo = all.findLastIndex(({ since }) => since <= nowMs - GRACE_MS_MAX)
  return all.slice(Math.max(0, longAgo)).slice(-LIMITS.deviceDemandsKeptMax)
}

const GRACE_MS_MAX = LIMITS.deviceGraceDaysMax * DAY_MS

function isSame(a: Demanded, b: Demanded): boolean {
  const written = ({ facts, unknown, min_os, min_agent, fresh_hours }: Demands) =>
    JSON.stringify([
      facts.toSorted(),
      unknown,
      Object.entries(min_os).toSorted(),
      min_agent,
      fresh_hours,
    ])
  return written(a) === written(b)
}
