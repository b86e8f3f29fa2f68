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
import type { Wanted } from './agenda.ts'
import { LEASE_MS } from './schedule.ts'

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
  { queries, nowMs }: Change,
  wanted: readonly Wanted[],
  owner: string,
): Promise<Claims> {
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
  for (const { webhookId, limit } of wanted) {
    const next = await pendingOf(queries, webhookId, limit + 1)
    const own = next.slice(0, limit).filter(({ nextAt }) => nextAt <= nowMs)
    due.push(...own)
    nextDue.set(webhookId, next[own.length]?.nextAt ?? (own.length > 0 ? untilMs : undefined))
  }
  const abandoned = due.filter(({ leaseOwner }) => leaseOwner !== null)
  await insertAttempts(queries, abandoned.map(lostAttempt))
  const isSpent = ({ attempts }: DeliveryRow) => attempts >= LIMITS.webhookAttemptsMax
  await updateDeliveries(queries, idsOf(abandoned.filter(isSpent)), {
    state: 'failed',
    leaseOwner: null,
    updatedAt: nowMs,
  })
  const sendable = due.filter((delivery) => !isSpent(delivery))
  await leaseDeliveries(queries, idsOf(sendable), { owner, untilMs, nowMs })
  const claimed = sendable.flatMap((delivery) => {
    const webhook = webhooks.get(delivery.webhookId)
    return webhook === undefined ? [] : [{ delivery, attempt: delivery.attempts + 1, webhook }]
  })
  return { claimed, nextDue }
}

const idsOf = (rows: readonly DeliveryRow[]) => rows.map(({ deliveryId }) => deliveryId)

function lostAttempt({ deliveryId, tenantId, attempts, leaseUntil }: DeliveryRow) {
  return {
    ...{ deliveryId, tenantId, number: attempts, status: null, milliseconds: 0, firstBytes: '' },
    at: (leaseUntil ?? LEASE_MS) - LEASE_MS,
    problem: LOST,
  }
}
