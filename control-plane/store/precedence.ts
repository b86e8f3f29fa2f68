/**
 * Whose changes go first. What people wait for, a revocation above all, goes before what anybody can
 * ask for without having shown who they are; said once where a request comes in, and true of all
 * that is changed on its behalf.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

interface Stranger {
  /** Gives back the turn that the request has among strangers. */
  readonly leave: () => void
}

const strangers = new AsyncLocalStorage<Stranger>()

export const asStranger = <T>(work: () => T, leave: () => void = () => undefined): T =>
  strangers.run({ leave }, work)

/**
 * Within a stranger's request, what a proven session asks for, above all its end: it goes with the
 * first, and holds no turn of strangers while gateways are waited for.
 */
export function asKnown<T>(work: () => T): T {
  strangers.getStore()?.leave()
  return strangers.exit(work)
}

export const isStrangers = (): boolean => strangers.getStore() !== undefined

/** Strangers are not starved either: one of theirs after so many others. */
const OTHERS_PER_STRANGER = 8

interface Queued {
  readonly askedMs: number
  /** Never rejects: how it went is told once it is kept. */
  run(): Promise<void>
  /** null: it is kept. */
  settle(problem: Error | null): void
}

interface WriteQueueOptions {
  /** Awaited between two turns. */
  readonly breathe: () => Promise<void>
  /** So many are under way together; one, if nothing is said. */
  readonly atOnce?: number
  /**
   * Begins, has all of `work` carried out and keeps it, or throws and keeps nothing of it: for those
   * who wait at the same time. Where nothing was kept, it may have the work done once more. Left
   * out: each keeps its own.
   */
  readonly together?: {
    readonly keep: (
      work: (isOpen: () => boolean) => Promise<void>,
      askedMs: number,
    ) => Promise<void>
    readonly changesMax: number
    readonly msMax: number
  }
}

export function createWriteQueue({ breathe, atOnce = 1, together }: WriteQueueOptions) {
  const first: Queued[] = []
  const last: Queued[] = []
  let sinceStranger = 0
  let underWay = 0
  let idle = Promise.withResolvers<void>()
  idle.resolve()

  function next(): Queued | undefined {
    const isStrangersTurn = first.length === 0 || sinceStranger >= OTHERS_PER_STRANGER
    const queued = isStrangersTurn ? (last.shift() ?? first.shift()) : first.shift()
    sinceStranger = isStrangersTurn ? 0 : sinceStranger + 1
    return queued
  }

  async function work() {
    if (underWay++ === 0) idle = Promise.withResolvers()
    for (let queued = next(); queued !== undefined; queued = next()) {
      if (together === undefined) {
        await queued.run()
        queued.settle(null)
      } else await keepWith(queued, together)
      await breathe()
    }
    if (--underWay === 0) idle.resolve()
  }

  /** Whoever waits by now shares its commit; nobody is told of anything before that. */
  async function keepWith(
    one: Queued,
    { keep, changesMax, msMax }: NonNullable<typeof together>,
  ): Promise<void> {
    const all = [one]
    let untilMs: number | undefined
    const problem = await keep(async (isOpen) => {
      untilMs ??= performance.now() + msMax
      for (let at = 0; at < all.length; at++) {
        await all[at]?.run()
        if (!isOpen()) return
        const isTime = all.length < changesMax && performance.now() < untilMs
        const other = at === all.length - 1 && isTime ? next() : undefined
        if (other !== undefined) all.push(other)
      }
    }, one.askedMs).then(
      () => null,
      (error: Error) => error,
    )
    for (const each of all) each.settle(problem)
  }

  return {
    /** In the order of asking; what is asked for by a stranger when there is nothing else. */
    enter: <T>(job: () => Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        // in the surroundings of its asker, though another's turn may start it
        const begin = AsyncLocalStorage.bind(job)
        let tell = () => {}
        const queued: Queued = {
          askedMs: performance.now(),
          run: () =>
            begin().then(
              (result) => void (tell = () => resolve(result)),
              (error: Error) => void (tell = () => reject(error)),
            ),
          settle: (problem) => (problem === null ? tell() : reject(problem)),
        }
        ;(isStrangers() ? last : first).push(queued)
        if (underWay < atOnce) void work()
      }),
    async settled() {
      while (underWay > 0) await idle.promise
    },
  }
}
