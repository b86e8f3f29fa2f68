/**
 * Texts on their way, in order and in bounded batches, kept until it is known what became of them.
 * A sender waits only for itself: what is refused on one does not hold up another.
 */
import { SECOND_MS } from '../../../../shared/clock.ts'
import { LIMITS } from '../../../../shared/limits.ts'

interface BatchSenderWorld {
  /** The status of the answer, 0 where there was none. */
  post(texts: readonly string[]): Promise<number>
  /** These need not be kept any longer; `isTaken` says whether anybody has them. */
  onGone(texts: readonly string[], isTaken: boolean): void
  readonly random: () => number
}

const RETRY_MS_MAX = 60 * SECOND_MS

export function createBatchSender({ post, onGone, random }: BatchSenderWorld) {
  const queue: string[] = []
  let inFlight = 0
  let failures = 0
  let batchMax: number = LIMITS.enforcementBatchSentMax
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<void> | undefined
  let isClosed = false

  function schedule(delayMs: number) {
    if (sending !== undefined || isClosed) return
    if (timer !== undefined && (delayMs > 0 || failures > 0)) return
    clearTimeout(timer)
    timer = setTimeout(() => void send(), delayMs).unref()
  }

  function send(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    sending ??= sendAll().finally(() => {
      sending = undefined
      if (queue.length > 0) schedule(retryMs())
    })
    return sending
  }

  function retryMs(): number {
    return Math.min(RETRY_MS_MAX, SECOND_MS * 2 ** Math.min(failures, 10)) * (1 - random() / 4)
  }

  async function sendAll(): Promise<void> {
    while (queue.length > 0) {
      const isGone = await sendBatch()
      failures = isGone ? 0 : failures + 1
      if (!isGone) return
    }
  }

  /** True: there is something new to be tried at once. */
  async function sendBatch(): Promise<boolean> {
    const batch = takeBatch()
    inFlight = batch.length
    const status = await post(batch).catch(() => 0)
    inFlight = 0
    const isTooLarge = status === 413
    // a batch that is refused for what it is would be refused for ever
    const isRefused = status === 400 || (isTooLarge && batch.length === 1)
    const isTaken = status >= 200 && status < 300
    if (isTaken || isRefused) onGone(batch, isTaken)
    else queue.unshift(...batch)
    if (isTooLarge) batchMax = Math.max(1, batch.length >> 1)
    return isTaken || isRefused || isTooLarge
  }

  function takeBatch(): string[] {
    let count = 0
    let characters = 0
    for (const text of queue) {
      characters += text.length
      const isFull = characters > LIMITS.enforcementBatchBytesSentMax
      if (count === batchMax || (isFull && count > 0)) break
      count++
    }
    return queue.splice(0, count)
  }

  return {
    push(text: string, delayMs: number) {
      queue.push(text)
      schedule(delayMs)
    },
    /** Characters of the oldest text that was still waiting; undefined where none was. */
    giveUpOldest: () => queue.shift()?.length,
    waiting: () => queue.length + inFlight,
    /** Sends what it can. */
    async close() {
      isClosed = true
      clearTimeout(timer)
      await (sending ?? sendAll())
    },
  }
}
