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
  const made: DeliveryRow[] = []
  let taken = 0
  for (const row of rows) {
    const own = (webhooks.get(row.tenantId) ?? [])
      .filter(
        ({ events, fromSequence }) => fromSequence < row.sequence && events.includes(row.event),
      )
      .map((webhook) => {
        const { event, content: data, createdAt: happenedAtMs } = row
        return newDelivery(webhook, { event, data, happenedAtMs }, nowMs)
      })
    // a hundred webhooks of one tenant must not hold the writer for as long as all others' events
    if (taken > 0 && made.length + own.length > LIMITS.webhookDeliveriesAtOnceMax) break
    made.push(...own)
    taken++
  }
  const deliveries = await withinBounds(queries, made)
  await insertDeliveries(queries, deliveries)
  await moveOutboxPosition(queries, rows[taken - 1]?.sequence ?? last.sequence)
  return { deliveries, hasMore: taken < rows.length || rows.length === most }
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
