/** An application whose clock is off refuses good sessions, or takes them for over: so it is told. */
import { SECOND_MS } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { Answer } from './probe-client.ts'

/** Seconds that the application's clock is ahead of ours; behind where negative. */
type ClockOffset = number

/** undefined where the clock is right, or nobody has told the time. */
export function clockOffsetOf(clockAheadMs: number | undefined): ClockOffset | undefined {
  const isOff = Math.abs(clockAheadMs ?? 0) > LIMITS.probeClockSkewMsMax
  return isOff ? Math.round((clockAheadMs ?? 0) / SECOND_MS) : undefined
}

export function clockOf(answer: Answer | undefined): ClockOffset | undefined {
  return answer?.kind === 'answered' ? clockOffsetOf(answer.clockAheadMs) : undefined
}

export function describeClock(aheadSeconds: ClockOffset, whose = 'Its clock'): string {
  const side = aheadSeconds > 0 ? 'ahead of' : 'behind'
  return `${whose} is ${Math.abs(aheadSeconds)} s ${side} the service's.`
}

/**
 * Until it is mended: what our rules for `iat` and `exp` (token.ts) come to by that clock. In sdk
 * mode the middleware hears the service's time with every poll, and judges by that.
 */
export function whatToDoAboutTheClock(aheadSeconds: ClockOffset, hasEdge: boolean): string {
  const seconds = Math.abs(aheadSeconds)
  const tolerated = LIMITS.issuedAheadSecondsMax
  const until = !hasEdge
    ? 'the middleware uses the time of the service, but the rest of the application uses a wrong one'
    : aheadSeconds > 0
      ? `sessions end ${seconds} s too early`
      : seconds > tolerated
        ? `people are refused for the first ${seconds - tolerated} s after signing in`
        : `sessions last ${seconds} s too long`
  return `Synchronize the clock of the machine that the application runs on (NTP; on Linux: sudo timedatectl set-ntp true). Until then ${until}.`
}
