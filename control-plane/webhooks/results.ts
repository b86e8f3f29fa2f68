/** What came of attempts: many at a time in one change, since each change waits for the disk. */
import { LIMITS } from '../../shared/limits.ts'
import { countFitting } from '../store/fitting.ts'
import {
  findDeliveryStates,
  insertAttempts,
  updateDeliveries,
  type AttemptRow,
} from '../store/queries/webhook-deliveries.ts'
import { forgetFailures } from '../store/queries/webhooks.ts'
import type { Change } from '../store/store.ts'
import type { Claimed } from './claims.ts'
import { countFailures } from './failures.ts'
import type { ReceiverAnswer } from './receiver.ts'
import { retryAtMs } from './schedule.ts'

export interface Result extends Claimed {
  readonly answer: ReceiverAnswer
  readonly startedAtMs: number
}

interface Retry {
  readonly webhookId: string
  readonly tenantId: string
  readonly dueMs: number
}

export interface Recorded {
  readonly delivered: number
  /** Attempts that are followed by another one, and when. */
  readonly retries: readonly Retry[]
  readonly givenUp: number
  readonly paused: readonly string[]
}

export const isDelivered = ({ answer: { status, problem } }: Pick<Result, 'answer'>) =>
  status !== undefined && status >= 200 && status <= 299 && problem === ''

/** How many one change takes, by count and by bytes: what is written of a delivery is written with its body. One at least. */
export const countAtOnce = (results: readonly Result[]): number =>
  countFitting(
    results.slice(0, LIMITS.webhookResultsAtOnceMax).map(({ delivery }) => delivery.body.length),
    LIMITS.webhookBytesAtOnceMax,
  )

export async function record(
  change: Change,
  results: readonly Result[],
  owner: string,
  random: () => number,
): Promise<Recorded> {
  const { queries, nowMs } = change
  if (results.length === 0) return { delivered: 0, retries: [], givenUp: 0, paused: [] }
  const rows = await findDeliveryStates(queries, results.map(idOf))
  const states = new Map(rows.map((row) => [row.deliveryId, row]))
  const known = results.filter((result) => states.has(idOf(result))) // the others were removed
  await insertAttempts(queries, known.map(attemptOf))

  const delivered = known.filter(
    (result) => isDelivered(result) && states.get(idOf(result))?.state === 'pending',
  )
  await updateDeliveries(queries, delivered.map(idOf), {
    state: 'delivered',
    leaseOwner: null,
    updatedAt: nowMs,
  })
  await forgetFailures(queries, [...new Set(delivered.map(webhookOf))])

  // what somebody else has taken over meanwhile is theirs, and what was ended is tried no more
  const failed = known.filter((result) => {
    const state = states.get(idOf(result))
    const isOurs = state?.leaseOwner === owner && state.attempts === result.attempt
    return !isDelivered(result) && isOurs && state.state === 'pending' && !state.isEnded
  })
  const retries: Retry[] = []
  const givenUp: Result[] = []
  for (const result of failed) {
    const dueMs = retryAtMs(result.attempt, nowMs, random())
    if (dueMs === undefined) givenUp.push(result)
    else {
      const { webhookId, tenantId } = result.delivery
      retries.push({ webhookId, tenantId, dueMs })
      const later = { nextAt: dueMs, leaseOwner: null, leaseUntil: null, updatedAt: nowMs }
      await updateDeliveries(queries, [idOf(result)], later)
    }
  }
  await updateDeliveries(queries, givenUp.map(idOf), {
    state: 'failed',
    leaseOwner: null,
    updatedAt: nowMs,
  })
  const real = givenUp.filter(({ delivery }) => !delivery.isTest)
  const ofWebhooks = [...Map.groupBy(real, webhookOf)].map(
    ([webhookId, own]) => [webhookId, own.length] as const,
  )
  const paused = await countFailures(change, new Map(ofWebhooks))
  return { delivered: delivered.length, retries, givenUp: givenUp.length, paused }
}

const idOf = ({ delivery }: Claimed) => delivery.deliveryId
const webhookOf = ({ delivery }: Claimed) => delivery.webhookId

function attemptOf({ delivery, attempt, answer, startedAtMs }: Result): AttemptRow {
  const { deliveryId, tenantId } = delivery
  const { status = null, milliseconds, firstBytes, problem } = answer
  return {
    ...{ deliveryId, tenantId, number: attempt, at: startedAtMs, status, milliseconds, problem },
    firstBytes: firstBytes.slice(0, LIMITS.webhookAnswerCharactersKept).toWellFormed(),
  }
}
