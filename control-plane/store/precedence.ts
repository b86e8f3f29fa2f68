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

type Queued = () => Promise<void>

/** `breathe` is awaited between two turns. */
export function createWriteQueue(breathe: () => Promise<void>) {
  const first: Queued[] = []
  const last: Queued[] = []
  let sinceStranger = 0
  let running: Promise<void> | undefined

  function next(): Queued | undefined {
    const isStrangersTurn = first.length === 0 || sinceStranger >= OTHERS_PER_STRANGER
    const queued = isStrangersTurn ? (last.shift() ?? first.shift()) : first.shift()
    sinceStranger = isStrangersTurn ? 0 : sinceStranger + 1
    return queued
  }

  async function work() {
    for (let queued = next(); queued !== undefined; queued = next()) {
      await queued()
      await breathe()
    }
    running = undefined
  }

  return {
    /** One after the other; what is asked for by a stranger when there is nothing else. */
    enter: <T>(job: () => Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        // in the surroundings of its asker, though another's turn may start it
        const begin = AsyncLocalStorage.bind(job)
        const run = () => begin().then(resolve, reject)
        ;(isStrangers() ? last : first).push(run)
        running ??= work()
      }),
    async settled() {
      await running
    },
  }
}
