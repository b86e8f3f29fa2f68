/**
 * Writes that follow each other per tenant and run side by side between tenants. A tenant that
 * changes again before its turn is written once, with its newest content; what failed is tried
 * again until it succeeds.
 */
interface WriteQueueOptions {
  /** Writes whatever is newest for this owner. */
  readonly write: (owner: string) => Promise<void>
  /** Once per round of tries, since a full disk fails every tenant. */
  readonly onFailure: (owner: string, error: unknown) => void
  readonly onRecovery: () => void
  readonly concurrencyMax: number
  readonly retryMs: number
  readonly closeMsMax: number
}

interface Turn {
  readonly promise: Promise<boolean>
  readonly resolve: (isWritten: boolean) => void
}

export function createWriteQueue(options: WriteQueueOptions) {
  const { write, onFailure, onRecovery, concurrencyMax, retryMs, closeMsMax } = options
  const urgent = new Map<string, Turn>()
  const ordinary = new Map<string, Turn>()
  const running = new Map<string, Promise<void>>()
  /** And whether it was urgent. */
  const failed = new Map<string, boolean>()
  let retryTimer: NodeJS.Timeout | undefined
  let isReported = false
  let isClosed = false

  /** Settles when everything asked for this owner so far is written; false if that failed. */
  function push(owner: string, isUrgent: boolean): Promise<boolean> {
    if (isClosed) return Promise.resolve(false)
    const waiting = urgent.get(owner) ?? ordinary.get(owner)
    const turn = waiting ?? Promise.withResolvers<boolean>()
    if (isUrgent) ordinary.delete(owner)
    if (isUrgent || waiting === undefined) (isUrgent ? urgent : ordinary).set(owner, turn)
    startNext()
    return turn.promise
  }

  function startNext() {
    for (const queue of [urgent, ordinary])
      for (const [owner, turn] of queue) {
        if (running.size >= concurrencyMax) return
        if (running.has(owner)) continue
        queue.delete(owner)
        running.set(owner, run(owner, turn, queue === urgent))
      }
  }

  async function run(owner: string, turn: Turn, isUrgent: boolean) {
    let isWritten = false
    try {
      await write(owner)
      if (failed.delete(owner) && failed.size === 0) onRecovery()
      isWritten = true
    } catch (error) {
      failed.set(owner, isUrgent || failed.get(owner) === true)
      if (!isReported) onFailure(owner, error)
      isReported = true
      retryLater()
    }
    running.delete(owner)
    turn.resolve(isWritten)
    startNext()
  }

  function retryLater() {
    if (isClosed) return
    retryTimer ??= setTimeout(() => {
      retryTimer = undefined
      isReported = false
      retryFailed()
    }, retryMs).unref()
  }

  function retryFailed() {
    for (const [owner, isUrgent] of failed) void push(owner, isUrgent)
  }

  async function flush() {
    while (running.size > 0) await Promise.all(running.values())
  }

  return {
    push,
    /** Nothing has failed that has not been written since. */
    isHealthy: () => failed.size === 0,
    /**
     * Tries what has failed once more and waits for what is queued, but not long: of the rest, only
     * what is urgent is written.
     */
    async close() {
      if (!isClosed) retryFailed()
      isClosed = true
      clearTimeout(retryTimer)
      const impatience = setTimeout(() => {
        for (const turn of ordinary.values()) turn.resolve(false)
        ordinary.clear()
      }, closeMsMax)
      await flush()
      clearTimeout(impatience)
    },
  }
}
