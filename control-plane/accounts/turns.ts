/**
 * Turns for work that costs a core and much memory. Tenants are served in rotation, each first
 * come, first served, so that a flood at one realm costs the others one turn and not a queue; who
 * comes when a queue is full is sent away.
 */
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'

export interface Turns {
  readonly take: <T>(work: () => Promise<T>, tenantId?: string) => Promise<T>
}

export interface TurnLimits {
  readonly concurrency?: number
  readonly waitingMax?: number
  readonly waitingPerTenantMax?: number
}

/** What belongs to no tenant has a queue of its own, which only the whole limits. */
const NOBODY = ''

export function createTurns({
  concurrency = 2,
  waitingMax = LIMITS.passwordQueueMax,
  waitingPerTenantMax = LIMITS.passwordQueuePerTenantMax,
}: TurnLimits = {}): Turns {
  const queues = new Map<string, (() => void)[]>()
  let running = 0
  let waiting = 0

  function wait(tenantId: string): Promise<void> {
    const queue = queues.get(tenantId) ?? []
    const isTenantFull = tenantId !== NOBODY && queue.length >= waitingPerTenantMax
    if (waiting >= waitingMax || isTenantFull) throw new Refusal('unavailable', { retry_after: 1 })
    queues.set(tenantId, queue)
    waiting++
    return new Promise((proceed) => queue.push(proceed))
  }

  /** The tenant that was served goes behind all others that wait. */
  function next(): (() => void) | undefined {
    const [first] = queues
    if (first === undefined) return undefined
    const [tenantId, queue] = first
    queues.delete(tenantId)
    const proceed = queue.shift()
    if (queue.length > 0) queues.set(tenantId, queue)
    waiting--
    return proceed
  }

  return {
    async take(work, tenantId = NOBODY) {
      if (running >= concurrency) await wait(tenantId)
      else running++
      try {
        return await work()
      } finally {
        const proceed = next()
        if (proceed === undefined) running--
        else proceed() // the turn is handed over, `running` stays
      }
    },
  }
}
