/**
 * What time it is at the control plane, whose times stand in everything that a gateway judges. Its
 * pings say it; the one that was under way for the least time is the truest. A clock on the wall that
 * is set meanwhile changes nothing: what it is compared with is time since the machine's start.
 */
import type { Logger } from 'pino'
import { SECOND_MS, systemClock, type Clock } from '../../shared/clock.ts'

/** Below, a clock is right: nothing that is judged is that exact. */
const WRONG_FROM_MS = 5 * SECOND_MS
/** What a correction may be off by before it is told anew. */
const APART_MS = SECOND_MS
/** A minute of them. */
const PINGS_KEPT = 12

/** What to add, for the control plane's time. */
export interface Correction {
  /** To this machine's clock; 0: it is right. */
  readonly wallMs: number
  /** To the time since the machine's start. */
  readonly machineMs: number
}

interface ToldTimeOptions {
  readonly log: Logger
  readonly onCorrection: (correction: Correction) => void
  /** This machine's, that nobody has put right. */
  readonly clock?: Clock
}

export function createToldTime({ log, onCorrection, clock = systemClock }: ToldTimeOptions) {
  /** Control plane's time without the machine's, of the newest pings. */
  const heard: number[] = []
  let told: Correction | undefined

  return {
    correction: () => told,
    hear(said: string): void {
      if (!/^\d{13}$/.test(said)) return // of a version that does not say it
      const atMs = clock.steadyMs()
      heard.push(Number(said) - atMs)
      if (heard.length > PINGS_KEPT) heard.shift()
      const ownMs = Math.max(...heard)
      const behindMs = Math.round(ownMs + atMs - clock.nowMs())
      const wallMs = Math.abs(behindMs) < WRONG_FROM_MS ? 0 : behindMs
      if (told !== undefined && isNear(wallMs, told.wallMs) && isNear(ownMs, told.machineMs)) return
      tell(wallMs, told?.wallMs ?? 0)
      told = { wallMs, machineMs: ownMs }
      onCorrection(told)
    },
  }

  function tell(wallMs: number, beforeMs: number) {
    if (isNear(wallMs, beforeMs)) return
    if (wallMs === 0) return log.info('the clock of this machine is right again')
    const seconds = Math.round(Math.abs(wallMs) / SECOND_MS)
    log.warn(
      { seconds, is: wallMs > 0 ? 'behind' : 'ahead' },
      "this machine's clock is not the control plane's, whose time is used instead; set it, for instance with an NTP service",
    )
  }
}

const isNear = (one: number, other: number) => Math.abs(one - other) < APART_MS
