import { LIMITS } from '../../../shared/limits.ts'
import {
  and,
  asc,
  count,
  desc,
  eq,
  getTableColumns,
  gte,
  inArray,
  lt,
  lte,
  or,
  sql,
  type SQL,
} from '../drizzle.ts'
import { countFitting } from '../fitting.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { findBy, insertRows, upsertInto } from '../statements.ts'
import { countKept, DELIVERY_ROW_BYTES } from './webhook-kept.ts'

const table = schema.webhookDeliveries
const { webhookAttempts } = schema
export type DeliveryRow = typeof table.$inferSelect
export type DeliveryState = DeliveryRow['state']
export type AttemptRow = typeof webhookAttempts.$inferSelect

/** A body may be large, and a list has many: it is read where it is needed. */
const { body: _, ...listedColumns } = getTableColumns(table)
export type ListedDelivery = Omit<DeliveryRow, 'body'>

export async function insertDeliveries(queries: Queries, rows: readonly DeliveryRow[]) {
  await insertRows(queries, table, rows)
  await countKept(
    queries,
    rows.map(({ tenantId, body }) => ({
      tenantId,
      bytes: Buffer.byteLength(body) + DELIVERY_ROW_BYTES,
    })),
  )
}

export const findDelivery = findBy(table, 'webhookId', 'deliveryId')

/** Those that there still are. */
export async function findDeliveryStates(queries: Queries, deliveryIds: readonly string[]) {
  return await queries
    .select({
      deliveryId: table.deliveryId,
      state: table.state,
      leaseOwner: table.leaseOwner,
      attempts: table.attempts,
      // by an end of what waits, whether or not that is written down already
      isEnded: sql`webhook_deliveries.generation < (SELECT webhooks.generation FROM webhooks
        WHERE webhooks.webhook_id = webhook_deliveries.webhook_id)`.mapWith(Boolean),
    })
    .from(table)
    .where(inArray(table.deliveryId, [...deliveryIds]))
}

/** What has waited longest of those that are still to be sent. */
export async function oldestPending(
  queries: Queries,
  { webhookId, generation }: Pick<typeof schema.webhooks.$inferSelect, 'webhookId' | 'generation'>,
): Promise<ListedDelivery | undefined> {
  const [oldest] = await queries
    .select(listedColumns)
    .from(table)
    .where(
      and(
        eq(table.webhookId, webhookId),
        eq(table.state, 'pending'),
        eq(table.generation, generation),
      ),
    )
    .orderBy(asc(table.createdAt), asc(table.deliveryId))
    .limit(1)
  return oldest
}

/** The newest first. */
export async function deliveriesBefore(
  queries: Queries,
  webhookId: string,
  state: DeliveryState | undefined,
  before: readonly [number, string] | undefined,
  limit: number,
): Promise<ListedDelivery[]> {
  // the first half alone is a range of the index: without it a late page would read all before it
  const isEarlier =
    before === undefined
      ? undefined
      : and(
          lte(table.createdAt, before[0]),
          or(lt(table.createdAt, before[0]), lt(table.deliveryId, before[1])),
        )
  return await queries
    .select(listedColumns)
    .from(table)
    .where(
      and(
        eq(table.webhookId, webhookId),
        state === undefined ? undefined : eq(table.state, state),
        isEarlier,
      ),
    )
    .orderBy(desc(table.createdAt), desc(table.deliveryId))
    .limit(limit)
}

export async function attemptsOf(
  queries: Queries,
  deliveryIds: readonly string[],
): Promise<AttemptRow[]> {
  if (deliveryIds.length === 0) return []
  return await queries
    .select()
    .from(webhookAttempts)
    .where(inArray(webhookAttempts.deliveryId, [...deliveryIds]))
    .orderBy(asc(webhookAttempts.number))
}

/** And was not ended: that may not be written down yet. */
const isWaitingFor = (webhookId: string) =>
  and(
    eq(table.state, 'pending'),
    eq(table.webhookId, webhookId),
    sql`webhook_deliveries.generation =
      (SELECT webhooks.generation FROM webhooks WHERE webhooks.webhook_id = ${webhookId})`,
  )

/** What waits for this webhook, in the order in which it becomes due. */
export async function pendingOf(queries: Queries, webhookId: string, limit: number) {
  return await queries
    .select()
    .from(table)
    .where(isWaitingFor(webhookId))
    .orderBy(asc(table.nextAt))
    .limit(limit)
}

export async function countPending(queries: Queries, webhookId: string): Promise<number> {
  return await queries.$count(table, isWaitingFor(webhookId))
}

export async function countFailedUpTo(queries: Queries, webhookId: string, most: number) {
  const isMeant = and(eq(table.webhookId, webhookId), eq(table.state, 'failed'))
  return countUpTo(queries, isMeant, most)
}

async function countUpTo(queries: Queries, isMeant: SQL | undefined, most: number) {
  const some = queries.select({ state: table.state }).from(table).where(isMeant).limit(most)
  const [row] = await queries.select({ count: count() }).from(some.as('some'))
  return row?.count ?? 0
}

/**
 * For each webhook that something waits for: when the first of it is due. The index is asked once
 * per webhook and not read through, since a broken receiver has thousands in it.
 */
export async function pendingWebhooks(queries: Queries) {
  const waiting = sql`(
    WITH RECURSIVE waiting (webhook_id) AS (
      SELECT min(webhook_id) FROM webhook_deliveries WHERE state = 'pending'
      UNION ALL
      SELECT (SELECT min(later.webhook_id) FROM webhook_deliveries AS later
              WHERE later.state = 'pending' AND later.webhook_id > waiting.webhook_id)
      FROM waiting WHERE waiting.webhook_id IS NOT NULL)
    SELECT webhooks.webhook_id, webhooks.tenant_id,
      (SELECT min(due.next_at) FROM webhook_deliveries AS due
       WHERE due.state = 'pending' AND due.webhook_id = waiting.webhook_id
         AND due.generation = webhooks.generation) AS due_at
    FROM waiting JOIN webhooks ON webhooks.webhook_id = waiting.webhook_id) AS found`
  return await queries
    .select({
      webhookId: sql<string>`found.webhook_id`,
      tenantId: sql<string>`found.tenant_id`,
      dueMs: sql<number>`found.due_at`.mapWith(Number),
    })
    .from(waiting)
    .where(sql`found.due_at IS NOT NULL`)
}

export async function updateDeliveries(
  queries: Queries,
  deliveryIds: readonly string[],
  changes: Partial<DeliveryRow>,
): Promise<void> {
  if (deliveryIds.length === 0) return
  await queries
    .update(table)
    .set(changes)
    .where(inArray(table.deliveryId, [...deliveryIds]))
}

/** The next attempt is counted before it is made. */
export async function leaseDeliveries(
  queries: Queries,
  deliveryIds: readonly string[],
  { owner, untilMs, nowMs }: { owner: string; untilMs: number; nowMs: number },
): Promise<void> {
  if (deliveryIds.length === 0) return
  await queries
    .update(table)
    .set({
      attempts: sql`${table.attempts} + 1`,
      leaseOwner: owner,
      leaseUntil: untilMs,
      nextAt: untilMs,
      updatedAt: nowMs,
    })
    .where(inArray(table.deliveryId, [...deliveryIds]))
}

const upsertAttempts = upsertInto(
  webhookAttempts,
  ['deliveryId', 'number'],
  'at',
  'status',
  'milliseconds',
  'firstBytes',
  'problem',
)

/** What is known better later replaces what was only supposed. */
export async function insertAttempts(queries: Queries, rows: readonly AttemptRow[]): Promise<void> {
  await upsertAttempts(queries, rows)
  await countKept(
    queries,
    rows.map(({ tenantId, firstBytes }) => ({ tenantId, bytes: Buffer.byteLength(firstBytes) })),
  )
}

type Owner = { readonly tenantId: string } | { readonly webhookId: string }

const isOf = (whose: Owner) =>
  'webhookId' in whose ? eq(table.webhookId, whose.webhookId) : eq(table.tenantId, whose.tenantId)

interface GivenUp {
  readonly deliveryId: string
  readonly bodyBytes: number
}

/** Not sent again yet, the oldest first; both ends are among them. */
export async function givenUpWithin(
  queries: Queries,
  webhookId: string,
  fromMs: number,
  untilMs: number,
  limit: number,
): Promise<GivenUp[]> {
  return await queries
    .select({
      deliveryId: table.deliveryId,
      bodyBytes: sql<number>`octet_length(${table.body})`,
    })
    .from(table)
    .where(
      and(
        eq(table.webhookId, webhookId),
        sql`state = 'failed' AND is_sent_again = 0`, // in these words: the index is of no others
        gte(table.updatedAt, fromMs),
        lte(table.updatedAt, untilMs),
      ),
    )
    .orderBy(asc(table.updatedAt), asc(table.deliveryId))
    .limit(limit)
}

export async function findDeliveries(queries: Queries, deliveryIds: readonly string[]) {
  return await queries
    .select()
    .from(table)
    .where(inArray(table.deliveryId, [...deliveryIds]))
    .orderBy(asc(table.createdAt), asc(table.deliveryId))
}

/** Any of them, with their attempts; answers how many. */
export async function deleteDeliveriesOf(queries: Queries, whose: Owner, limit: number) {
  return deleteSome(queries, isOf(whose), limit)
}

/** What is over, whichever way, with its attempts. */
export async function deleteSettledBefore(queries: Queries, beforeMs: number, limit: number) {
  const isOver = inArray(table.state, ['delivered', 'failed', 'cancelled'])
  return deleteSome(queries, and(isOver, lt(table.updatedAt, beforeMs)), limit)
}

/** Of one tenant the oldest that are over, those first that nobody would send again. */
export async function deleteOldestSettledOf(queries: Queries, tenantId: string, limit: number) {
  for (const state of ['delivered', 'cancelled', 'failed'] as const) {
    const isMeant = and(eq(table.tenantId, tenantId), eq(table.state, state))
    const deleted = await deleteSome(queries, isMeant, limit, asc(table.updatedAt))
    if (deleted > 0) return deleted
  }
  return 0
}

/** By count and by bytes. As many as the limit: there may be more. */
async function deleteSome(
  queries: Queries,
  isMeant: SQL | undefined,
  limit: number,
  ...order: SQL[]
) {
  const some = await queries
    .select({
      deliveryId: table.deliveryId,
      tenantId: table.tenantId,
      bytes: sql<number>`${-DELIVERY_ROW_BYTES} - octet_length(body) -
        (SELECT coalesce(sum(octet_length(first_bytes)), 0) FROM webhook_attempts
          WHERE webhook_attempts.delivery_id = webhook_deliveries.delivery_id)`,
    })
    .from(table)
    .where(isMeant)
    .orderBy(...order)
    .limit(limit)
  if (some.length === 0) return 0
  const count = countFitting(
    some.map(({ bytes }) => -bytes),
    LIMITS.webhookBytesAtOnceMax,
  )
  const gone = some.slice(0, count)
  const ids = gone.map(({ deliveryId }) => deliveryId)
  await queries.delete(webhookAttempts).where(inArray(webhookAttempts.deliveryId, ids))
  await queries.delete(table).where(inArray(table.deliveryId, ids))
  await countKept(queries, gone)
  return count < some.length ? limit : count
}
