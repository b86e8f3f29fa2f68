/**
 * A semaphore for work that costs a core and much memory. Tenants are served in rotation, each first
 * come, first served, so that a flood at one realm costs the others one turn and not a queue. Who
 * comes when their queue is full is sent away; when all are, the last of the longest gives way to
 * who has less.
 */
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { Rotation } from './rotation.ts'

export type FairSemaphore = ReturnType<typeof createFairSemaphore>

export interface SemaphoreLimits {
  readonly concurrency?: number
  readonly waitingMax?: number
  readonly waitingPerTenantMax?: number
}

interface Waiting {
  readonly proceed: () => void
  readonly giveWay: (refusal: Refusal) => void
}

/** What belongs to no tenant has a queue of its own, which only the whole limits. */
const NOBODY = ''

export function createFairSemaphore({
  concurrency = 2,
  waitingMax = LIMITS.passwordQueueMax,
  waitingPerTenantMax = LIMITS.passwordQueuePerTenantMax,
}: SemaphoreLimits = {}) {
  const waiting = new Rotation<Waiting>()
  let running = 0

  function wait(tenantId: string, member: string): Promise<void> {
    const isTenantFull = tenantId !== NOBODY && waiting.countOf(tenantId) >= waitingPerTenantMax
    const isFull = isTenantFull || waiting.size >= waitingMax
    if (isFull && !makeRoom(tenantId, member, isTenantFull)) throw unavailable()
    return new Promise((proceed, giveWay) => waiting.push(tenantId, member, { proceed, giveWay }))
  }

  function makeRoom(tenantId: string, member: string, isOfTenant: boolean): boolean {
    const last = waiting.makeRoom(tenantId, member, isOfTenant)
    last?.giveWay(unavailable())
    return last !== undefined
  }

  return {
    /**
     * `leave` gives the turn on before the work is done: for what waits for others and costs nothing.
     * `member`: whose turn it is among those of a tenant, or of a site.
     */
    async take<T>(
      work: (leave: () => void) => Promise<T>,
      tenantId = NOBODY,
      member = '',
    ): Promise<T> {
      if (running >= concurrency) await wait(tenantId, member)
      else running++
      let isHeld = true
      const leave = () => {
        if (!isHeld) return
        isHeld = false
        const proceed = waiting.shift()?.proceed
        if (proceed === undefined) running--
        else proceed() // the turn is handed over, `running` stays
      }
      try {
        return await work(leave)
      } finally {
        leave()
      }
    },
  }
}

const unavailable = () => new Refusal('unavailable', { retry_after: 1 })
