/** When what is tried again. Pure. */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'

/**
 * After a failure of a hostname. Let's Encrypt lets five fail in an hour; what is wrong for days is
 * looked at once a day.
 */
const PAUSES_MS = [
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
  DAY_MS,
] as const

/** `failures`: with this one. */
export function pauseMs(failures: number): number {
  return PAUSES_MS[Math.min(failures, PAUSES_MS.length) - 1] ?? DAY_MS
}

/**
 * How long an authority that is busy is left alone. It does not say whether a limit is of the account
 * or of one hostname, which must not keep all others waiting: what it says counts in full once
 * several have met it without an order in between.
 */
export function authorityPauseMs(refusals: number, saidMs: number | undefined): number {
  const step = 2 ** Math.min(refusals, 20)
  const wished = saidMs ?? Math.min(MINUTE_MS * step, HOUR_MS)
  return between(wished, SECOND_MS, Math.min(5 * MINUTE_MS * step, LIMITS.acmePauseMsMax))
}

/** How long until an order that is under way is looked at again. */
export function pollMs(ageMs: number, saidMs: number | undefined): number {
  return between(saidMs ?? ageMs / 4, SECOND_MS, saidMs === undefined ? MINUTE_MS : HOUR_MS)
}

/** An order that has come to nothing for so long is given up. */
export const ORDER_MS_MAX = HOUR_MS

const YOUNG_MS = 6 * HOUR_MS

interface Life {
  readonly startMs: number
  readonly endMs: number
}

/** What an authority says of one of its certificates (RFC 9773 section 4.2). */
interface Suggested {
  readonly startMs: number
  readonly endMs: number
}

/**
 * When a certificate is replaced: at a moment of the window that its authority suggests, each of
 * them as likely; one that was chosen stays while the window allows it. Without a window, when a
 * third of its life is left. In any case while a tenth is; and whatever an authority says, not when it
 * has only just come.
 */
export function renewalAt(
  { startMs, endMs }: Life,
  known: number | null,
  suggested: Suggested | undefined,
  random: () => number,
): number {
  const lifeMs = endMs - startMs
  if (suggested === undefined) return known ?? Math.round(endMs - lifeMs / 3)
  const isKept = known !== null && known >= suggested.startMs && known <= suggested.endMs
  const { startMs: from, endMs: to } = suggested
  const wanted = isKept ? known : from + random() * (to - from)
  return between(wanted, startMs + Math.min(YOUNG_MS, lifeMs / 3), endMs - lifeMs / 10)
}

/** How long until an authority is asked again when it wants a certificate replaced. */
export function askAgainMs(saidMs: number | undefined): number {
  return between(saidMs ?? 6 * HOUR_MS, MINUTE_MS, DAY_MS)
}

const between = (value: number, min: number, max: number) =>
  Math.round(Math.min(Math.max(value, min), max))
