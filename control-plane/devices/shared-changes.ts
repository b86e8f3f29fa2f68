/**
 * Many small changes in one commit: what came while the last one was written, and for a while behind
 * it, goes together into the next. A commit waits for the disk, and everybody waits with it; so these
 * take a tenth of the time at most, however slow the disk is.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { asStranger } from '../store/precedence.ts'
import type { Change, Store } from '../store/store.ts'

interface Waiting {
  readonly work: (change: Change) => Promise<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** So that no commit of theirs holds up others for long. */
const TOGETHER_MAX = 32
/** Between two commits, by how long the last one took; the most while several come at a time. */
const PAUSE_FACTOR = 9
const PAUSE_MS_MAX = 100

export function createSharedChanges(
  store: Pick<Store, 'change'>,
  pause: (ms: number) => Promise<unknown> = sleep,
) {
  const waiting: Waiting[] = []
  let isRunning = false

  async function run() {
    isRunning = true
    while (waiting.length > 0) {
      const some = waiting.splice(0, TOGETHER_MAX)
      const tookMs = await commit(some)
      const isCrowd = some.length > 1
      await pause(isCrowd ? PAUSE_MS_MAX : Math.min(PAUSE_MS_MAX, PAUSE_FACTOR * tookMs))
    }
    isRunning = false
  }

  /** Settles when it is written; answers go out when what they revoke is enforced, too. */
  async function commit(some: readonly Waiting[]): Promise<number> {
    let done: unknown[] = []
    let beganMs = performance.now()
    const isEnforced = store
      .change(async (change) => {
        beganMs = performance.now() // it has waited for its turn
        done = [] // it may be made again, and who is answered is told what is kept
        for (const { work } of some) done.push(await work(change))
      })
      .then(
        () => some.forEach((one, at) => one.resolve(done[at])),
        (error: unknown) => (some.length > 1 ? alone(some) : some[0]?.reject(error)),
      )
    await Promise.race([isEnforced, sleep(PAUSE_MS_MAX)])
    return performance.now() - beganMs
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
