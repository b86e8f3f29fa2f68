/**
 * What gateways report, of each gateway and kind one after the other. A gateway sends the next once
 * it was told of the one before; whoever has its key and does not wait, or comes again and again,
 * would fill our memory, and everybody else's changes would wait behind its own.
 */
import { LIMITS } from '../../shared/limits.ts'

const WAITING_MAX = {
  events: LIMITS.fleetReportsWaitingMax,
  figures: LIMITS.fleetReportsWaitingMax,
  held: LIMITS.fleetReportsWaitingMax,
  /** It is told of none. */
  activity: LIMITS.fleetActivityWaitingMax,
} as const

interface Line {
  waiting: number
  last: Promise<unknown>
}

export function createReportQueue() {
  const lines = new Map<string, Line>()

  return {
    /** Settles as `work` does, once those before have settled. Undefined: too many wait. */
    add(
      gatewayId: string,
      kind: keyof typeof WAITING_MAX,
      work: () => void | Promise<void>,
    ): Promise<void> | undefined {
      const name = `${kind} ${gatewayId}`
      const line = lines.getOrInsertComputed(name, () => ({ waiting: 0, last: Promise.resolve() }))
      if (line.waiting >= WAITING_MAX[kind]) return undefined
      line.waiting++
      const done = line.last.then(work).finally(() => {
        if (--line.waiting === 0) lines.delete(name)
      })
      line.last = done.catch(() => undefined)
      return done
    },
  }
}
