/**
 * Requests for a tenant that this process knows only by name wait here until it is there, for
 * seconds at most. Whoever asks for many such tenants finds that only so many are waited for.
 */
import { countedWidelyAs } from '../../shared/client-address.ts'
import { SECOND_MS, type SteadyClock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { createRateLimits } from '../../shared/rate-limits.ts'

interface LoadingWorld {
  /** Asks for it; what comes of that is told by `settled`. */
  readonly want: (tenantId: string) => void
  readonly clock: SteadyClock
  /** Addresses that are many people: balancers in front. */
  readonly isExempt?: (address: string) => boolean
  readonly waitMsMax?: number
}

/** One that could not be had is not asked for again by the next request. */
const REFUSED_MS = 2 * SECOND_MS

interface Load {
  readonly settled: Promise<void>
  readonly settle: () => void
  isOver: boolean
}

export type TenantLoading = ReturnType<typeof createTenantLoading>

export function createTenantLoading({ want, clock, isExempt, waitMsMax }: LoadingWorld) {
  const loads = new Map<string, Load>()
  const begun = createRateLimits(clock)

  function begin(tenantId: string): Load {
    const { promise: settled, resolve } = Promise.withResolvers<void>()
    const load: Load = { settled, settle: () => end(tenantId, load, resolve), isOver: false }
    loads.set(tenantId, load)
    setTimeout(load.settle, waitMsMax ?? LIMITS.fleetWantedMsMax).unref()
    want(tenantId)
    return load
  }

  function end(tenantId: string, load: Load, resolve: () => void) {
    if (load.isOver) return
    load.isOver = true
    resolve()
    setTimeout(() => {
      if (loads.get(tenantId) === load) loads.delete(tenantId)
    }, REFUSED_MS).unref()
  }

  /** A few bytes of a client are milliseconds of every program here: no site takes all of them. */
  function mayBegin(client: string): boolean {
    if (loads.size >= LIMITS.fleetTenantsWantedMax) return false
    if (isExempt?.(client) === true) return true
    const rate = LIMITS.fleetTenantsWantedOfSite
    return begun.waitSeconds('tenants wanted', countedWidelyAs(client), rate) === undefined
  }

  return {
    /** Settles when it is known what there is of it; then look once more. */
    async load(tenantId: string, client: string): Promise<void> {
      const load = loads.get(tenantId)
      if (load !== undefined) return load.settled
      if (mayBegin(client)) await begin(tenantId).settled
    },
    /** It is there, or cannot be had now. */
    settled(tenantId: string, isThere: boolean) {
      const load = loads.get(tenantId)
      load?.settle()
      if (isThere) loads.delete(tenantId)
    },
  }
}
