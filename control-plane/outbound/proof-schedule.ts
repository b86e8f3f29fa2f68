/** When the proof of a name is looked for again, and what follows when it is gone. Pure. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { RecordState } from './txt-proof.ts'

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

/** Until the record of a name that is proven is looked for again. */
export const PROVEN_PAUSE_MS = DAY_MS
/** The same while it is gone: often enough that one bad hour of a name server counts for little. */
const MISSING_PAUSE_MS = 6 * HOUR_MS

/** `looks`: with this one. */
export function pauseMs(looks: number): number {
  return PAUSES_MS[Math.min(looks, PAUSES_MS.length) - 1] ?? DAY_MS
}

/** What is known of a record that has proven a name. */
interface Proof {
  readonly lookedAt: number | null
  /** Since when the record is gone; null: it was there at the last look. */
  readonly missingSince: number | null
  readonly misses: number
}

interface AfterLook {
  readonly changes: Partial<Proof> & { readonly dueAt: number }
  /** From this look on. */
  readonly isWarned: boolean
  /** Gone for so long, and missed so often, that it proves nothing any more. */
  readonly isOver: boolean
}

/** Silence counts for nothing, and no record is given up at once. */
export function afterLook(proof: Proof, state: RecordState, nowMs: number): AfterLook {
  const goesOn = { isWarned: false, isOver: false }
  if (state === 'there') {
    const dueAt = nowMs + PROVEN_PAUSE_MS
    return { ...goesOn, changes: { lookedAt: nowMs, dueAt, missingSince: null, misses: 0 } }
  }
  const dueAt = nowMs + MISSING_PAUSE_MS
  if (state === 'unknown') return { ...goesOn, changes: { dueAt } }
  const missingSince = proof.missingSince ?? nowMs
  const misses = proof.misses + 1
  const missingMs = nowMs - missingSince
  const wasWarned = (proof.lookedAt ?? 0) - missingSince >= LIMITS.hostnameUnprovenWarnedMs
  return {
    changes: { lookedAt: nowMs, dueAt, missingSince, misses },
    isWarned: missingMs >= LIMITS.hostnameUnprovenWarnedMs && !wasWarned,
    isOver: missingMs >= LIMITS.hostnameUnprovenMsMax && misses >= LIMITS.hostnameUnprovenLooksMin,
  }
}

/** When what a record proves ends, for those who are warned; undefined: it is there, or was until lately. */
export function endsAt({ missingSince }: Proof, nowMs: number): number | undefined {
  if (missingSince === null || nowMs - missingSince < LIMITS.hostnameUnprovenWarnedMs)
    return undefined
  return missingSince + LIMITS.hostnameUnprovenMsMax
}
