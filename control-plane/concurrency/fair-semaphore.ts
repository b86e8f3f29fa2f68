/**
 * Turns for work that costs a core and much memory. Tenants are served in rotation, each first
 * come, first served, so that a flood at one realm costs the others one turn and not a queue. Who
 * comes when their queue is full is sent away; when all are, the last of the longest gives way to
 * who has less.
 */
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'

export interface Turns {
  /** `leave` gives the turn on before the work is done: for what waits for others and costs nothing. */
  readonly take: <T>(work: (leave: () => void) => Promise<T>, tenantId?: string) => Promise<T>
}

export interface TurnLimits {
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

export function createTurns({
  concurrency = 2,
  waitingMax = LIMITS.passwordQueueMax,
  waitingPerTenantMax = LIMITS.passwordQueuePerTenantMax,
}: TurnLimits = {}): Turns {
  const queues = new Map<string, Waiting[]>()
  let running = 0
  let waiting = 0

  function wait(tenantId: string): Promise<void> {
    const queue = queues.get(tenantId) ?? []
    const isTenantFull = tenantId !== NOBODY && queue.length >= waitingPerTenantMax
    if (isTenantFull || (waiting >= waitingMax && !makeRoom(queue.length))) throw unavailable()
    queues.set(tenantId, queue)
    waiting++
    return new Promise((proceed, giveWay) => queue.push({ proceed, giveWay }))
  }

  /** Only where it makes things more even: two that have as many do not push each other out. */
  function makeRoom(ownCount: number): boolean {
    let longest: Waiting[] = []
    for (const queue of queues.values()) if (queue.length > longest.length) longest = queue
    if (longest.length <= ownCount + 1) return false
    longest.pop()?.giveWay(unavailable())
    waiting--
    return true
  }

  /** The tenant that was served goes behind all others that wait. */
  function next(): (() => void) | undefined {
    const [first] = queues
    if (first === undefined) return undefined
    const [tenantId, queue] = first
    queues.delete(tenantId)
    const proceed = queue.shift()?.proceed
    if (queue.length > 0) queues.set(tenantId, queue)
    waiting--
    return proceed
  }

  return {
    async take(work, tenantId = NOBODY) {
      if (running >= concurrency) await wait(tenantId)
      else running++
      let isHeld = true
      const leave = () => {
        if (!isHeld) return
        isHeld = false
        const proceed = next()
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
