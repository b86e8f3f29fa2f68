/**
 * How many check-ins are worked on: none waits in line, since sign-ins are what people wait for. Who
 * comes too many is told when to come again, so that each second gets about as many as fit in it:
 * after an outage all machines come at once, and all of them come again. The machines of one tenant
 * leave room for those of the others.
 */
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { createRateLimits } from '../../shared/rate-limits.ts'
import { createShares } from '../concurrency/shares.ts'
import { CheckInReturns } from './check-in-returns.ts'

interface CheckInRoomWorld {
  readonly clock: Clock
  readonly random?: () => number
}

/** Fewer than are worked on in a second: those who come by themselves have room beside them. */
const RETURNS_PER_SECOND = 100
const RETURNS_OF_TENANT_PER_SECOND = RETURNS_PER_SECOND / 2
const RATE = LIMITS.rateDeviceCheckIns
const ALL = ['check-ins', 'all', RATE] as const
/** In it as many are worked on as come at once. */
const WINDOW_MS = (RATE.burst / RATE.perSecond) * SECOND_MS

export type CheckInRoom = ReturnType<typeof createCheckInRoom>

export function createCheckInRoom({ clock, random = Math.random }: CheckInRoomWorld) {
  const rates = createRateLimits(clock)
  const returns = new CheckInReturns({ clock, random }, RETURNS_PER_SECOND)
  const returnsOfTenants = new Map<string, CheckInReturns>()
  const inWindow = createShares(RATE.burst)
  const underWay = createShares(LIMITS.deviceCheckInsAtOnceMax)
  let window = 0
  let beingShown = 0

  function beginWindow() {
    const current = Math.floor(clock.nowMs() / WINDOW_MS)
    if (current === window) return
    window = current
    inWindow.clear()
    for (const [tenantId, ofTenant] of returnsOfTenants)
      if (ofTenant.isOver) returnsOfTenants.delete(tenantId)
  }

  function turnAway(from: CheckInReturns): never {
    throw new Refusal('unavailable', { retry_after: from.next() })
  }

  /** A tenant has its share, which takes nothing of what all have. */
  function turnAwayOf(tenantId: string): never {
    const known = returnsOfTenants.get(tenantId)
    const own = known ?? new CheckInReturns({ clock, random }, RETURNS_OF_TENANT_PER_SECOND)
    if (known === undefined) returnsOfTenants.set(tenantId, own)
    rates.giveBack(...ALL)
    turnAway(own)
  }

  /** Who is no device, or comes too often, takes nothing of what all machines have. */
  async function seen<Shown>(show: () => Promise<Shown>): Promise<Shown> {
    beingShown++
    try {
      return await show()
    } catch (error) {
      rates.giveBack(...ALL)
      throw error
    } finally {
      beingShown--
    }
  }

  return {
    /** Seconds from now. */
    again: () => returns.next(),

    async enter<Shown extends { readonly tenantId: string }, T>(
      show: () => Promise<Shown>,
      work: (shown: Shown) => Promise<T>,
    ): Promise<T> {
      if (beingShown >= LIMITS.deviceCheckInsAtOnceMax) turnAway(returns)
      if (rates.waitSeconds(...ALL) !== undefined) turnAway(returns)
      const shown = await seen(show)
      const { tenantId } = shown
      beginWindow()
      if (!underWay.take(tenantId)) turnAwayOf(tenantId)
      try {
        if (!inWindow.take(tenantId)) turnAwayOf(tenantId)
        return await work(shown)
      } finally {
        underWay.giveBack(tenantId)
      }
    },
  }
}
