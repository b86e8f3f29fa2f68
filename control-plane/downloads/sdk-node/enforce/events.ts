/**
 * What was enforced, on its way to the service: gathered, sent in batches, kept while the service
 * cannot be reached, and bounded. What ends a session goes first and is the last to be given up.
 */
import { SECOND_MS } from '../../../../shared/clock.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import type { Credentials } from './credentials.ts'
import { createBatchSender } from './batch-sender.ts'

export interface EnforcedEvent {
  readonly outcome: 'sealed' | 'step_up' | 'terminate' | 'logout' | 'forwarded' | 'refused'
  readonly reason?: string
  readonly subject?: string
  readonly sid?: string
  readonly issued_at?: number
  readonly ip?: string
  readonly app_host?: string
  readonly path?: string
  /** How many requests that were. */
  readonly count?: number
}

interface EventsWorld {
  readonly credentials: Credentials
  readonly onWarning: (message: string) => void
  readonly random: () => number
}

const PATH = '/api/v1/enforcement/events'
const GATHER_MS = SECOND_MS
const TIMEOUT_MS = 10 * SECOND_MS

export function createEvents({ credentials, onWarning, random }: EventsWorld) {
  let characters = 0
  let dropped = 0
  let isClosed = false
  let rejectedCount = 0
  let refusedCount = 0
  const world = { post, onGone, random }
  /** They end sessions elsewhere: nothing that anybody can cause by asking may hold them up. */
  const urgent = createBatchSender(world)
  const ordinary = createBatchSender(world)

  async function post(texts: readonly string[]): Promise<number> {
    const answer = await credentials.fetch(PATH, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: `{"events":[${texts.join(',')}]}`,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    if (answer.status === 200) tellOfRejected(await answer.json().catch(() => undefined))
    else await answer.body?.cancel()
    return answer.status
  }

  /** It is this version that the service does not understand: said once, and counted. */
  function tellOfRejected(answer: unknown) {
    const { rejected } = (answer ?? {}) as { rejected?: unknown }
    if (typeof rejected !== 'number' || !(rejected > 0)) return
    if (rejectedCount === 0)
      onWarning(`service-node: the service rejected ${rejected} of the events it was sent`)
    rejectedCount += rejected
  }

  function onGone(texts: readonly string[], isTaken: boolean) {
    for (const text of texts) characters -= text.length
    if (isTaken) return
    if (refusedCount === 0)
      onWarning(`service-node: the service refused ${texts.length} events; they are dropped`)
    refusedCount += texts.length
    dropped += texts.length
  }

  function giveUp() {
    if (dropped++ === 0)
      onWarning('service-node: the service accepts no events right now; some are dropped')
  }

  /** What ends a session finds room; what merely tells of something waits for it. */
  function makeRoom() {
    while (characters > LIMITS.enforcementBacklogBytesMax) {
      const freed = ordinary.giveUpOldest() ?? urgent.giveUpOldest()
      if (freed === undefined) return // all of it is on its way
      characters -= freed
      giveUp()
    }
  }

  return {
    add(event: EnforcedEvent) {
      if (isClosed) return
      const text = JSON.stringify(event)
      const isUrgent = event.outcome === 'terminate' || event.outcome === 'logout'
      if (!isUrgent && characters + text.length > LIMITS.enforcementBacklogBytesMax) return giveUp()
      characters += text.length
      if (isUrgent) urgent.push(text, 0)
      else ordinary.push(text, GATHER_MS)
      makeRoom()
    },
    /** How many wait, and how many were given up since the start. */
    stats: () => ({ waiting: urgent.waiting() + ordinary.waiting(), dropped }),
    /** Sends what it can. */
    async close() {
      isClosed = true
      await Promise.all([urgent.close(), ordinary.close()])
    },
  }
}
