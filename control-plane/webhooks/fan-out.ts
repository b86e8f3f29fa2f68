/**
 * Events become deliveries: one for each webhook that is active, has chosen the event and belongs
 * to a tenant whose plan has webhooks. How far this has come commits with the deliveries, so that
 * no end of the process leaves an event out or takes one twice.
 */
import { LIMITS } from '../../shared/limits.ts'
import {
  moveOutboxPosition,
  newestEvent,
  outboxAfter,
  outboxPosition,
} from '../store/queries/outbox.ts'
import {
  countFailedUpTo,
  countPending,
  insertDeliveries,
  type DeliveryRow,
} from '../store/queries/webhook-deliveries.ts'
import {
  findWebhooks,
  hearFrom,
  listeningWebhooks,
  updateWebhook,
} from '../store/queries/webhooks.ts'
import type { Change } from '../store/store.ts'
import { newDelivery } from './new-delivery.ts'
import { countFailures, SERVICE } from './failures.ts'

export interface FannedOut {
  readonly deliveries: readonly DeliveryRow[]
  /** There may be more events than were taken. */
  readonly hasMore: boolean
  /** Events that a webhook is not sent: too many wait for it. */
  readonly givenUp: number
  readonly paused: readonly string[]
}

export const NOTHING: FannedOut = { deliveries: [], hasMore: false, givenUp: 0, paused: [] }

const TOO_MANY = `more than ${LIMITS.webhookPendingMax} deliveries were waiting for this webhook`

export async function fanOut(change: Change): Promise<FannedOut> {
  const { queries, nowMs } = change
  const most = LIMITS.webhookEventsAtOnceMax
  const stretch = { rows: most, bytes: LIMITS.webhookBytesAtOnceMax }
  const position = await outboxPosition(queries)
  const rows = await outboxAfter(queries, position, stretch)
  const last = rows.at(-1)
  if (last === undefined) return NOTHING
  const newest = await newestEvent(queries)
  const tenantIds = new Set(rows.map(({ tenantId }) => tenantId))
  const webhooks = Map.groupBy(
    await listeningWebhooks(queries, [...tenantIds]),
    ({ tenantId }) => tenantId,
  )
  const made: DeliveryRow[] = []
  let taken = 0
  let bytes = 0
  for (const row of rows) {
    const { sequence, event, content: data, createdAt: happenedAtMs } = row
    const own = (webhooks.get(row.tenantId) ?? []).filter(
      ({ events, fromSequence }) => fromSequence < sequence && events.includes(event),
    )
    const told: string[] = []
    for (const webhook of own) {
      const delivery = newDelivery(webhook, { event, data, happenedAtMs }, nowMs)
      bytes += Buffer.byteLength(delivery.body)
      const isTooMany = made.length === LIMITS.webhookDeliveriesAtOnceMax
      if (made.length > 0 && (isTooMany || bytes > LIMITS.webhookBytesAtOnceMax)) break
      made.push(delivery)
      told.push(webhook.webhookId)
    }
    // a hundred webhooks of one tenant must not hold the writer for as long as all others' events:
    // those that are told already hear from there on, and the others are told next time
    if (told.length < own.length) {
      if (told.length > 0) await hearFrom(queries, told, sequence)
      break
    }
    taken++
  }
  const { deliveries, failed, dropped } = await withinBounds(queries, made)
  await insertDeliveries(queries, deliveries)
  const whole = rows[taken - 1]
  if (whole !== undefined) await moveOutboxPosition(queries, whole.sequence)
  await countDropped(change, dropped)
  const paused = await countFailures(change, failed)
  const givenUp = [...failed.values()].reduce((sum, count) => sum + count, 0)
  return { deliveries, hasMore: taken < rows.length || last.sequence < newest, givenUp, paused }
}

interface Bounded {
  readonly deliveries: readonly DeliveryRow[]
  /** How many of each webhook were too many to wait. */
  readonly failed: ReadonlyMap<string, number>
  /** How many of those were not even written down. */
  readonly dropped: ReadonlyMap<string, number>
}

/**
 * What is too much to be kept waiting is a failure, to be seen and to be replayed; and what is too
 * much to be kept as a failure as well is a number that the webhook shows.
 */
async function withinBounds(
  queries: Change['queries'],
  made: readonly DeliveryRow[],
): Promise<Bounded> {
  const deliveries: DeliveryRow[] = []
  const failed = new Map<string, number>()
  const dropped = new Map<string, number>()
  for (const [webhookId, own] of Map.groupBy(made, (delivery) => delivery.webhookId)) {
    const room = LIMITS.webhookPendingMax - (await countPending(queries, webhookId))
    const waiting = own.slice(0, Math.max(0, room))
    const others = own.slice(waiting.length)
    deliveries.push(...waiting)
    if (others.length === 0) continue
    const most = LIMITS.webhookFailedBeforeDropMax
    const kept = others.slice(0, most - (await countFailedUpTo(queries, webhookId, most)))
    deliveries.push(
      ...kept.map((delivery) => ({ ...delivery, state: 'failed' as const, problem: TOO_MANY })),
    )
    failed.set(webhookId, others.length)
    if (others.length > kept.length) dropped.set(webhookId, others.length - kept.length)
  }
  return { deliveries, failed, dropped }
}

/** As long as failures are kept to be looked at: then the count begins anew. */
async function countDropped(change: Change, dropped: Bounded['dropped']) {
  const { queries, nowMs } = change
  for (const webhook of await findWebhooks(queries, [...dropped.keys()])) {
    const { webhookId, tenantId, droppedSince } = webhook
    const isNew = droppedSince === null || nowMs - droppedSince > LIMITS.webhookDeliveryKeptMs
    const count = dropped.get(webhookId) ?? 0
    await updateWebhook(queries, webhookId, {
      droppedCount: isNew ? count : webhook.droppedCount + count,
      droppedSince: isNew ? nowMs : droppedSince,
    })
    const content = { webhook_id: webhookId, waiting: LIMITS.webhookPendingMax }
    if (isNew) await change.audit(SERVICE, { action: 'webhook.dropping', tenantId, content })
  }
}
