/**
 * What time it is at the control plane, whose times stand in everything that a gateway judges. Its
 * pings say it; the one that was under way for the least time is the truest. A clock on the wall that
 * is set meanwhile changes nothing: what it is compared with is time since the machine's start.
 */
import type { Logger } from 'pino'
import { SECOND_MS } from '../../shared/clock.ts'

/** Below, a clock is right: nothing that is judged is that exact. */
const WRONG_FROM_MS = 5 * SECOND_MS
/** What a correction may be off by before it is told anew. */
const APART_MS = SECOND_MS
/** A minute of them. */
const PINGS_KEPT = 12

interface ToldTimeOptions {
  readonly log: Logger
  /** What to add to this machine's clock from now on. */
  readonly onCorrection: (ms: number) => void
  readonly wallMs?: () => number
  /** Since some moment, at the pace of time, whoever sets a clock. */
  readonly steadyMs?: () => number
}

export function createToldTime({
  log,
  onCorrection,
  wallMs = Date.now,
  steadyMs = () => performance.now(),
}: ToldTimeOptions) {
  /** Control plane's time without the time that is steady here, of the newest pings. */
  const heard: number[] = []
  let correctionMs = 0

  return {
    correctionMs: () => correctionMs,
    hear(said: string): void {
      if (!/^\d{13}$/.test(said)) return // of a version that does not say it
      heard.push(Number(said) - steadyMs())
      if (heard.length > PINGS_KEPT) heard.shift()
      const behindMs = Math.round(Math.max(...heard) + steadyMs() - wallMs())
      const wantedMs = Math.abs(behindMs) < WRONG_FROM_MS ? 0 : behindMs
      if (wantedMs === correctionMs || (wantedMs !== 0 && isNear(wantedMs, correctionMs))) return
      correctionMs = wantedMs
      tell(behindMs)
      onCorrection(wantedMs)
    },
  }

  function tell(behindMs: number) {
    const seconds = Math.round(Math.abs(behindMs) / SECOND_MS)
    if (correctionMs === 0) return log.info('the clock of this machine is right again')
    log.warn(
      { seconds, is: behindMs > 0 ? 'behind' : 'ahead' },
      "this machine's clock is not the control plane's, whose time is used instead; set it, for instance with an NTP service",
    )
  }
}

const isNear = (one: number, other: number) => Math.abs(one - other) < APART_MS
