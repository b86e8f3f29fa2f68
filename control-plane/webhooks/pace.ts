/**
 * How much is sent to one webhook at a time. Whoever answers well gets more; whoever fails or is
 * slow gets little, and shares what there is for all such, so that the others never wait for them.
 */
import { LRUCache } from 'lru-cache'
import { SECOND_MS } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'

interface Pace {
  readonly sendsMax: number
  readonly isSlow: boolean
}

export type Paces = ReturnType<typeof createPaces>

const FIRST: Pace = { sendsMax: 4, isSlow: false }
const SENDS_MIN = 2
const SLOW_MS = SECOND_MS

/** Kept in memory only: whoever is forgotten is met anew. */
const KEPT = 20_000

export function createPaces() {
  let paces: LRUCache<string, Pace> | undefined // it takes all of its room at once
  const of = (webhookId: string) => paces?.get(webhookId) ?? FIRST
  return {
    of,
    /** What came of one attempt. */
    learn(webhookId: string, isDelivered: boolean, milliseconds: number) {
      paces ??= new LRUCache<string, Pace>({ max: KEPT })
      paces.set(webhookId, next(of(webhookId), isDelivered, milliseconds))
    },
  }
}

function next({ sendsMax }: Pace, isDelivered: boolean, milliseconds: number): Pace {
  const isSlow = !isDelivered || milliseconds > SLOW_MS
  if (!isDelivered) return { sendsMax: Math.max(SENDS_MIN, Math.floor(sendsMax / 2)), isSlow }
  return { sendsMax: Math.min(LIMITS.webhookSendsPerWebhookMax, sendsMax + 1), isSlow }
}
