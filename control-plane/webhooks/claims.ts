/**
 * Who sends what: a delivery is leased to one dispatcher, with the attempt counted, before it is
 * sent. Whoever dies meanwhile is followed by somebody else when the lease has ended.
 */
import { LIMITS } from '../../shared/limits.ts'
import {
  insertAttempts,
  leaseDeliveries,
  pendingOf,
  updateDeliveries,
  type DeliveryRow,
} from '../store/queries/webhook-deliveries.ts'
import { findWebhooks, type WebhookRow } from '../store/queries/webhooks.ts'
import type { Change } from '../store/store.ts'
import type { Wanted } from './due-queue.ts'
import { LEASE_MS, retryAtMs } from './schedule.ts'

export interface Claimed {
  readonly delivery: DeliveryRow
  /** Which attempt this is; 1 is the first. */
  readonly attempt: number
  readonly webhook: WebhookRow
}

export interface Claims {
  readonly claimed: readonly Claimed[]
  /** Of each webhook that was looked at: when its next delivery is due. */
  readonly nextDue: ReadonlyMap<string, number | undefined>
}

export const LOST = 'the service stopped before there was an answer'

export async function claim(
  change: Change,
  wanted: readonly Wanted[],
  owner: string,
  random: () => number,
): Promise<Claims> {
  const { queries, nowMs } = change
  const nextDue = new Map<string, number | undefined>()
  if (wanted.length === 0) return { claimed: [], nextDue }
  const webhooks = new Map(
    (
      await findWebhooks(
        queries,
        wanted.map(({ webhookId }) => webhookId),
      )
    ).map((webhook) => [webhook.webhookId, webhook]),
  )
  const due: DeliveryRow[] = []
  const untilMs = nowMs + LEASE_MS
  let bytes = 0
  for (const { webhookId, limit } of wanted) {
    if (bytes > LIMITS.webhookBytesAtOnceMax) {
      nextDue.set(webhookId, nowMs) // in the next turn
      continue
    }
    const next = await pendingOf(queries, webhookId, limit + 1)
    const own = next.slice(0, limit).filter(({ nextAt }) => nextAt <= nowMs)
    due.push(...own)
    for (const { body } of own) bytes += body.length
    nextDue.set(webhookId, next[own.length]?.nextAt ?? (own.length > 0 ? untilMs : undefined))
  }
  const put = await putOffAbandoned(change, due, random)
  for (const [{ webhookId }, dueMs] of put)
    if (dueMs !== undefined)
      nextDue.set(webhookId, Math.min(dueMs, nextDue.get(webhookId) ?? dueMs))
  const sendable = due.filter((delivery) => !put.has(delivery))
  await leaseDeliveries(queries, idsOf(sendable), { owner, untilMs, nowMs })
  const claimed = sendable.flatMap((delivery) => {
    const webhook = webhooks.get(delivery.webhookId)
    return webhook === undefined ? [] : [{ delivery, attempt: delivery.attempts + 1, webhook }]
  })
  return { claimed, nextDue }
}

/**
 * An attempt that nobody lived to tell of may have arrived, or not. It counts, and is followed by
 * the same gap as one that failed: else a program that dies again and again, for a minute or two,
 * would use up all attempts. Answers those that are not to be sent now, and when they are.
 */
async function putOffAbandoned(
  { queries, nowMs }: Change,
  due: readonly DeliveryRow[],
  random: () => number,
): Promise<ReadonlyMap<DeliveryRow, number | undefined>> {
  const abandoned = due.filter(({ leaseOwner }) => leaseOwner !== null)
  await insertAttempts(queries, abandoned.map(lostAttempt))
  const put = new Map<DeliveryRow, number | undefined>()
  for (const delivery of abandoned) {
    const { attempts, deliveryId } = delivery
    const dueMs = retryAtMs(attempts, startOf(delivery), random())
    if (dueMs !== undefined && dueMs <= nowMs) continue
    put.set(delivery, dueMs)
    const end = dueMs === undefined ? ({ state: 'failed' } as const) : { nextAt: dueMs }
    await updateDeliveries(queries, [deliveryId], { ...end, leaseOwner: null, updatedAt: nowMs })
  }
  return put
}

const idsOf = (rows: readonly DeliveryRow[]) => rows.map(({ deliveryId }) => deliveryId)

/** When the attempt began that its lease was for. */
const startOf = ({ leaseUntil }: DeliveryRow) => (leaseUntil ?? LEASE_MS) - LEASE_MS

function lostAttempt(delivery: DeliveryRow) {
  const { deliveryId, tenantId, attempts: number } = delivery
  return {
    ...{ deliveryId, tenantId, number, status: null, milliseconds: 0, firstBytes: '' },
    at: startOf(delivery),
    problem: LOST,
  }
}
