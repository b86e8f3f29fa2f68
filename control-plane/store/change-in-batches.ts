/** What may be too much for one change. */
import { LIMITS } from '../../shared/limits.ts'
import type { Change, Store } from './store.ts'

/**
 * So many in a change, and the next are asked for when those are written: whoever has come meanwhile
 * goes first. Gateways are told of the next ones while they enforce these; it settles when all have.
 */
export async function changeInSlices<One>(
  store: Pick<Store, 'change'>,
  all: readonly One[],
  most: number,
  work: (change: Change, some: readonly One[]) => Promise<unknown>,
): Promise<void> {
  const changes: Promise<void>[] = []
  for (let at = 0; at < all.length; at += most) {
    const some = all.slice(at, at + most)
    const { promise: isWritten, resolve } = Promise.withResolvers<void>()
    const isEnforced = store.change(async (change) => {
      await work(change, some)
      resolve()
    })
    isEnforced.catch(() => {}) // told of below
    changes.push(isEnforced)
    await Promise.race([isWritten, isEnforced])
  }
  await Promise.all(changes)
}

/** As many as sessions are ended together. */
export async function changeInBatches<One>(
  store: Pick<Store, 'change'>,
  all: readonly One[],
  work: (change: Change, one: One) => Promise<unknown>,
): Promise<void> {
  await changeInSlices(store, all, LIMITS.sessionsEndedPerChangeMax, async (change, some) => {
    for (const one of some) await work(change, one)
  })
}
