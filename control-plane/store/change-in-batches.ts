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

/**
 * Of each tenant one change at a time waits for the writer, however many it sends at once, so that the
 * others' come between. The next is asked for when this one is written: not only when it is enforced.
 */
export function changesInTurn(store: Pick<Store, 'change'>) {
  const lastOf = new Map<string, Promise<unknown>>()

  async function asked<T>(
    before: Promise<unknown> | undefined,
    work: (change: Change) => Promise<T>,
  ) {
    await before
    const { promise: isWritten, resolve } = Promise.withResolvers<void>()
    const changed = store.change(async (change) => {
      const result = await work(change)
      resolve()
      return result
    })
    return { changed, isWritten: Promise.race([isWritten, changed]).catch(() => {}) }
  }

  return (tenantId: string): Pick<Store, 'change'> => ({
    async change(work) {
      const asking = asked(lastOf.get(tenantId), work)
      const isOver = asking.then(({ isWritten }) => isWritten)
      lastOf.set(tenantId, isOver)
      void isOver.then(() => lastOf.get(tenantId) === isOver && lastOf.delete(tenantId))
      return (await asking).changed
    },
  })
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
