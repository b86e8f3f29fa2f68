/**
 * What one control plane does for all of them, as long as its lease lasts; should it end without a
 * word, another one goes on when that is over. It only spares the others the work: what is told or
 * sent once is so by the row that each change of it looks at, whoever does it.
 */
import { randomUUID } from 'node:crypto'
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import { findLease, releaseLeases, takeLease } from '../store/queries/leases.ts'
import type { Store } from '../store/store.ts'
import { noTracing, type Tracing } from '../tracing/tracing.ts'

type Work = (isClosed: () => boolean) => Promise<void>

/** Over several rounds of what comes every ten seconds, and shorter than what alerts call a pause. */
export const LEASE_MS = 30 * SECOND_MS

interface LeasesWorld {
  readonly store: Store
  readonly clock: Clock
  readonly tracing?: Pick<Tracing, 'span'>
}

export function createLeases({ store, clock, tracing = noTracing() }: LeasesWorld) {
  const owner = randomUUID()

  /** Whoever sees that another one has it changes nothing. */
  async function take(name: string): Promise<boolean> {
    const known = await findLease(store.read, name)
    const leftMs = (known?.untilAt ?? 0) - clock.nowMs()
    const isOthers = known?.owner !== owner && leftMs > 0 && leftMs <= 2 * LEASE_MS
    return !isOthers && store.change((change) => takeLease(change, name, owner, LEASE_MS))
  }

  return {
    /** The work is told that it is closed, too, once the lease is another one's. */
    alone(name: string, work: Work): Work {
      return async (isClosed) => {
        let takenMs = performance.now()
        if (!(await take(name))) return
        let isTaking = false
        const isOver = () => performance.now() - takenMs >= LEASE_MS
        const renewing = setInterval(() => void renew(), LEASE_MS / 3).unref()
        async function renew() {
          const askedMs = performance.now()
          if (isTaking || isOver()) return
          isTaking = true
          if (await take(name).catch(() => false)) takenMs = askedMs
          isTaking = false
        }
        try {
          await tracing.span('job', { attributes: { job: name } }, () =>
            work(() => isClosed() || isOver()),
          )
        } finally {
          clearInterval(renewing)
        }
      }
    },
    /** Others need not wait until they are over. */
    async close(): Promise<void> {
      await store.change(({ queries }) => releaseLeases(queries, owner)).catch(() => false)
    },
  }
}
