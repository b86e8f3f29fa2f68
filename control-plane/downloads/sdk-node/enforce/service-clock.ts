/**
 * The service's time, as far as it can be told from here. Tokens are judged by the clock of whoever
 * issued them: an application server whose clock is five minutes off neither refuses everybody nor
 * lets anybody stay longer.
 */
import { HOUR_MS, SECOND_MS } from '../../../../shared/clock.ts'

/** A clock that is further off is put right by people, not by us: nothing is judged by a guess. */
const CORRECTED_MS_MAX = HOUR_MS
/** A Date header names a whole second: what is nearer than this is no difference. */
const UNCERTAIN_MS = 2 * SECOND_MS

interface Own {
  readonly nowMs: () => number
  readonly steadyMs: () => number
}

export type ServiceClock = ReturnType<typeof createServiceClock>

export function createServiceClock({ nowMs, steadyMs }: Own) {
  let offsetMs = 0

  return {
    nowMs: () => nowMs() - offsetMs,
    steadyMs,
    /** Our clock minus the service's. */
    offsetMs: () => offsetMs,
    /** A Date header and the moments, by our clock, between which it was written. */
    observe(date: string | null, sentMs: number, receivedMs: number) {
      const dateMs = date === null ? NaN : Date.parse(date)
      if (Number.isNaN(dateMs)) return
      const measuredMs = Math.round((sentMs + receivedMs) / 2 - (dateMs + SECOND_MS / 2))
      const doubtMs = UNCERTAIN_MS + Math.max(0, receivedMs - sentMs) / 2
      const isPlausible = Math.abs(measuredMs) > doubtMs && Math.abs(measuredMs) <= CORRECTED_MS_MAX
      offsetMs = isPlausible ? measuredMs : 0
    },
  }
}
