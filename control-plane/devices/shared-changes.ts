/**
 * Many small changes in one commit: what came while the last one was written goes together into the
 * next. A commit waits for the disk, and sign-ins wait for it in the same line.
 */
import { asStranger } from '../store/precedence.ts'
import type { Change, Store } from '../store/store.ts'

interface Waiting {
  readonly work: (change: Change) => Promise<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** So that no commit of theirs holds up others for long. */
const TOGETHER_MAX = 16

export function createSharedChanges(store: Pick<Store, 'change'>) {
  const waiting: Waiting[] = []
  let isRunning = false

  async function run() {
    isRunning = true
    while (waiting.length > 0) await commit(waiting.splice(0, TOGETHER_MAX))
    isRunning = false
  }

  /** Settles when the next may be written; answers go out when what they revoke is enforced. */
  async function commit(some: readonly Waiting[]) {
    const { promise: isWritten, resolve } = Promise.withResolvers<void>()
    const done: unknown[] = []
    const isEnforced = store
      .change(async (change) => {
        for (const { work } of some) done.push(await work(change))
        resolve()
      })
      .then(
        () => some.forEach((one, at) => one.resolve(done[at])),
        (error: unknown) => (some.length > 1 ? alone(some) : some[0]?.reject(error)),
      )
    await Promise.race([isWritten, isEnforced])
  }

  /** One that fails takes nobody with it. */
  async function alone(some: readonly Waiting[]) {
    for (const one of some) await commit([one])
  }

  return {
    /** What is expected to be refused is answered, not thrown: others are in the same change. */
    enter: <T>(work: (change: Change) => Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        waiting.push({ work, resolve: resolve as Waiting['resolve'], reject })
        if (!isRunning) asStranger(() => void run())
      }),
  }
}
