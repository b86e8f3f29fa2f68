/**
 * Events become deliveries: one for each webhook that is active, has chosen the event and belongs
 * to a tenant whose plan has webhooks. How far this has come commits with the deliveries, so that
 * no end of the process leaves an event out or takes one twice.
 */
import { LIMITS } from '../../shared/limits.ts'
import { moveOutboxPosition, outboxAfter, outboxPosition } from '../store/queries/outbox.ts'
import {
  countPending,
  insertDeliveries,
  type DeliveryRow,
} from '../store/queries/webhook-deliveries.ts'
import { listeningWebhooks } from '../store/queries/webhooks.ts'
import type { Change } from '../store/store.ts'
import { newDelivery } from './deliveries.ts'

export interface FannedOut {
  readonly deliveries: readonly DeliveryRow[]
  /** There may be more events than were taken. */
  readonly hasMore: boolean
}

const TOO_MANY = `more than ${LIMITS.webhookPendingMax} deliveries were waiting for this webhook`

export async function fanOut({ queries, nowMs }: Change): Promise<FannedOut> {
  const most = LIMITS.webhookEventsAtOnceMax
  const rows = await outboxAfter(queries, await outboxPosition(queries), most)
  const last = rows.at(-1)
  if (last === undefined) return { deliveries: [], hasMore: false }
  const tenantIds = new Set(rows.map(({ tenantId }) => tenantId))
  const webhooks = Map.groupBy(
    await listeningWebhooks(queries, [...tenantIds]),
    ({ tenantId }) => tenantId,
  )
  const made = rows.flatMap((row) =>
    (webhooks.get(row.tenantId) ?? [])
      .filter(
        ({ events, fromSequence }) => fromSequence < row.sequence && events.includes(row.event),
      )
      .map((webhook) => {
        const { event, content: data, createdAt: happenedAtMs } = row
        return newDelivery(webhook, { event, data, happenedAtMs }, nowMs)
      }),
  )
  const deliveries = await withinBounds(queries, made)
  await insertDeliveries(queries, deliveries)
  await moveOutboxPosition(queries, last.sequence)
  return { deliveries, hasMore: rows.length === most }
}

/** What is too much to be kept waiting is a failure, to be seen and to be replayed. */
async function withinBounds(queries: Change['queries'], made: readonly DeliveryRow[]) {
  const bounded: DeliveryRow[] = []
  for (const [webhookId, own] of Map.groupBy(made, (delivery) => delivery.webhookId)) {
    const room = LIMITS.webhookPendingMax - (await countPending(queries, webhookId))
    bounded.push(
      ...own.map((delivery, at) =>
        at < room ? delivery : { ...delivery, state: 'failed' as const, problem: TOO_MANY },
      ),
    )
  }
  return bounded
}
