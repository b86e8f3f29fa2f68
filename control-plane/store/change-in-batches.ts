/** What may be too much for one change. */
import { LIMITS } from '../../shared/limits.ts'
import type { Change, Store } from './store.ts'

/**
 * So many in a change, and the next are asked for when those are written: whoever has come meanwhile
 * goes first. Gateways are told of the next ones while they enforce these; it settles when all have.
 */
export async function changeInBatches<One>(
  store: Pick<Store, 'change'>,
  all: readonly One[],
  work: (change: Change, one: One) => Promise<unknown>,
): Promise<void> {
  const changes: Promise<void>[] = []
  for (let at = 0; at < all.length; at += LIMITS.sessionsEndedPerChangeMax) {
    const some = all.slice(at, at + LIMITS.sessionsEndedPerChangeMax)
    const { promise: isWritten, resolve } = Promise.withResolvers<void>()
    const isEnforced = store.change(async (change) => {
      for (const one of some) await work(change, one)
      resolve()
    })
    isEnforced.catch(() => {}) // told of below
    changes.push(isEnforced)
    await Promise.race([isWritten, isEnforced])
  }
  await Promise.all(changes)
}
