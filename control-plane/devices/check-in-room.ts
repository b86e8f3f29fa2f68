/**
 * How many check-ins are worked on: none waits in line, since sign-ins are what people wait for. Who
 * comes too many is told when to come again, so that each second gets about as many as fit in it:
 * after an outage all machines come at once, and all of them come again.
 */
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { createRateLimits } from '../../shared/rate-limits.ts'

interface CheckInRoomWorld {
  readonly clock: Clock
  readonly random?: () => number
}

/** Fewer than are worked on in a second: those who come by themselves have room beside them. */
const RETURNS_PER_SECOND = 100
const TRIES = 4
const ALL = ['check-ins', 'all', LIMITS.rateDeviceCheckIns] as const

export type CheckInRoom = ReturnType<typeof createCheckInRoom>

export function createCheckInRoom({ clock, random = Math.random }: CheckInRoomWorld) {
  const rates = createRateLimits(clock)
  /** By second, how many were told to come then. */
  const returning = new Map<number, number>()
  let outstanding = 0
  let forgottenTo = 0
  let underWay = 0

  function forget(nowS: number) {
    if (nowS === forgottenTo) return
    forgottenTo = nowS
    for (const [second, count] of returning) {
      if (second > nowS) continue
      returning.delete(second)
      outstanding -= count
    }
  }

  /** For one who is turned away: seconds from now. */
  function again(): number {
    const nowS = Math.floor(clock.nowMs() / SECOND_MS)
    forget(nowS)
    const full = Math.ceil(outstanding / RETURNS_PER_SECOND)
    const horizon = Math.min(LIMITS.deviceCheckInAgainSecondsMax, full + 2)
    let seconds = horizon
    for (let tries = 0; tries < TRIES; tries++) {
      const picked = 1 + Math.floor(random() * horizon)
      if ((returning.get(nowS + picked) ?? 0) >= RETURNS_PER_SECOND) continue
      seconds = picked
      break
    }
    returning.set(nowS + seconds, (returning.get(nowS + seconds) ?? 0) + 1)
    outstanding++
    return seconds
  }

  function turnAway(): never {
    throw new Refusal('unavailable', { retry_after: again() })
  }

  return {
    again,
    /** Who is no device, or comes too often, takes nothing of what all machines have. */
    async enter<Shown, T>(
      show: () => Promise<Shown>,
      work: (shown: Shown) => Promise<T>,
    ): Promise<T> {
      if (underWay >= LIMITS.deviceCheckInsAtOnceMax) turnAway()
      if (rates.waitSeconds(...ALL) !== undefined) turnAway()
      underWay++
      try {
        const shown = await show().catch((error: unknown) => {
          rates.giveBack(...ALL)
          throw error
        })
        return await work(shown)
      } finally {
        underWay--
      }
    },
  }
}
