/**
 * Weeks as people have them: from Monday 00:00 to Monday 00:00 of their time zone, told of at 09:00.
 * Clocks that are put forward or back make weeks of 167 or 169 hours; an hour that does not exist
 * is taken for the one behind it, and of one that comes twice the first counts. Pure.
 */
import { DAY_MS, HOUR_MS } from '../../shared/clock.ts'

const MIDNIGHT = '00:00'
const TOLD_AT = '09:00'

export interface Week {
  /** The date of the Monday that ends it, as `2026-03-02`: a week has one name in every zone. */
  readonly name: string
  readonly fromMs: number
  readonly toMs: number
}

/** The newest one that is due to be told of. */
export function newestWeek(nowMs: number, timeZone: string): Week {
  const today = Temporal.Instant.fromEpochMilliseconds(nowMs)
    .toZonedDateTimeISO(timeZone)
    .toPlainDate()
  const monday = today.subtract({ days: today.dayOfWeek - 1 })
  const isDue = momentOf(monday, TOLD_AT, timeZone) <= nowMs
  const end = isDue ? monday : monday.subtract({ weeks: 1 })
  return {
    name: end.toString(),
    fromMs: momentOf(end.subtract({ weeks: 1 }), MIDNIGHT, timeZone),
    toMs: momentOf(end, MIDNIGHT, timeZone),
  }
}

/** A Monday, 00:00 UTC. */
const SOME_MONDAY_MS = Date.UTC(1970, 0, 5)
const FIRST_TO_BEGIN_MS = 15 * HOUR_MS
const LAST_TO_BEGIN_MS = 13 * HOUR_MS

/** Whether it is about to be Monday, or just became so, anywhere on earth (UTC+14 to UTC-12). */
export function mayHoldEndOfWeek(atMs: number): boolean {
  const intoWeekMs = (((atMs - SOME_MONDAY_MS) % (7 * DAY_MS)) + 7 * DAY_MS) % (7 * DAY_MS)
  return intoWeekMs < LAST_TO_BEGIN_MS || intoWeekMs >= 7 * DAY_MS - FIRST_TO_BEGIN_MS
}

function momentOf(date: Temporal.PlainDate, time: string, timeZone: string): number {
  return date
    .toPlainDateTime(Temporal.PlainTime.from(time))
    .toZonedDateTime(timeZone, { disambiguation: 'compatible' }).epochMilliseconds
}

/** So far may the time zone move the end of a week. */
const MOVED_MS_MAX = 3 * DAY_MS

/**
 * From when on its digest counts: where the one before ended, so that nothing is left out or told
 * of twice when the time zone was changed. After a longer silence, only the newest week is told of.
 */
export function countedFrom(week: Week, lastUntilMs: number): number {
  return Math.abs(week.fromMs - lastUntilMs) <= MOVED_MS_MAX || lastUntilMs > week.fromMs
    ? lastUntilMs
    : week.fromMs
}

/** The name as it is written in the list of zones; undefined: there is none such. */
export function timeZoneNamed(name: string): string | undefined {
  if (!/^[A-Za-z]/.test(name)) return undefined // an offset is no place: it knows no summer
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId
  } catch {
    return undefined
  }
}
