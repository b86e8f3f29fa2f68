/**
 * What was enforced, on its way to the service: gathered, sent in batches, kept while the service
 * cannot be reached, and bounded. What ends a session goes first and is the last to be given up.
 */
import { SECOND_MS } from '../../../../shared/clock.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import type { Credentials } from './credentials.ts'

export interface EnforcedEvent {
  readonly outcome: 'sealed' | 'step_up' | 'terminate' | 'logout'
  readonly reason?: string
  readonly subject?: string
  readonly sid?: string
  readonly ip?: string
  readonly app_host?: string
}

export interface Events {
  add(event: EnforcedEvent): void
  /** How many wait, and how many were given up since the start. */
  stats(): { readonly waiting: number; readonly dropped: number }
  /** Sends what it can. */
  close(): Promise<void>
}

interface Queued {
  readonly queue: string[]
  readonly text: string
}

export interface EventsWorld {
  readonly credentials: Credentials
  readonly onWarning: (message: string) => void
  readonly random: () => number
}

const PATH = '/api/v1/enforcement/events'
const GATHER_MS = SECOND_MS
const RETRY_MS_MAX = 60 * SECOND_MS
const TIMEOUT_MS = 10 * SECOND_MS

export function createEvents({ credentials, onWarning, random }: EventsWorld): Events {
  /** They end sessions elsewhere; the others are told of. */
  const urgent: string[] = []
  const ordinary: string[] = []
  let bytes = 0
  let dropped = 0
  let failures = 0
  let batchMax: number = LIMITS.enforcementBatchSentMax
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<void> | undefined
  let isClosed = false

  function add(event: EnforcedEvent) {
    if (isClosed) return
    const text = JSON.stringify(event)
    const isUrgent = event.outcome === 'terminate' || event.outcome === 'logout'
    const queue = isUrgent ? urgent : ordinary
    if (!isUrgent && bytes + text.length > LIMITS.enforcementBacklogBytesMax) return giveUp()
    queue.push(text)
    bytes += text.length
    while (bytes > LIMITS.enforcementBacklogBytesMax) {
      const oldest = ordinary.shift() ?? urgent.shift()
      bytes -= oldest?.length ?? bytes
      giveUp()
    }
    schedule(isUrgent ? 0 : GATHER_MS)
  }

  function giveUp() {
    if (dropped++ === 0)
      onWarning('service-node: the service takes no events, and the oldest are given up')
  }

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
      if (urgent.length + ordinary.length > 0) schedule(retryMs())
    })
    return sending
  }

  function retryMs(): number {
    return Math.min(RETRY_MS_MAX, SECOND_MS * 2 ** Math.min(failures, 10)) * (1 - random() / 4)
  }

  async function sendAll(): Promise<void> {
    while (urgent.length + ordinary.length > 0) {
      const isGone = await sendBatch().catch(() => false)
      failures = isGone ? 0 : failures + 1
      if (!isGone) return
    }
  }

  /** True: this batch need not be sent again. */
  async function sendBatch(): Promise<boolean> {
    const batch = takeBatch()
    const status = await post(batch).catch(() => 0)
    if (status === 413 && batch.length > 1) batchMax = Math.max(1, batch.length >> 1)
    // a batch that is refused for what it is would be refused for ever
    const isRefused = status === 400 || (status === 413 && batch.length === 1)
    if (isRefused) dropped += batch.length
    if (isRefused || (status >= 200 && status < 300)) {
      for (const { text } of batch) bytes -= text.length
      return true
    }
    for (const { queue, text } of batch.reverse()) queue.unshift(text)
    return status === 413
  }

  async function post(batch: readonly Queued[]): Promise<number> {
    const answer = await credentials.fetch(PATH, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: `{"events":[${batch.map(({ text }) => text).join(',')}]}`,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    await answer.body?.cancel()
    return answer.status
  }

  /** Taken out of the queues until it is known what became of it. */
  function takeBatch(): Queued[] {
    const batch: Queued[] = []
    let batchBytes = 0
    for (const queue of [urgent, ordinary])
      for (;;) {
        const [text] = queue
        if (text === undefined || batch.length >= batchMax) break
        if (batch.length > 0 && batchBytes + text.length > LIMITS.enforcementBatchBytesSentMax)
          break
        batch.push({ queue, text })
        batchBytes += text.length
        queue.shift()
      }
    return batch
  }

  return {
    add,
    stats: () => ({ waiting: urgent.length + ordinary.length, dropped }),
    async close() {
      isClosed = true
      clearTimeout(timer)
      await (sending ?? sendAll())
    },
  }
}
