import { and, asc, eq, gt, inArray, or } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { findBy, insertInto, updateBy } from '../statements.ts'
import { newestEvent } from './outbox.ts'

const { webhooks, webhookEndings, tenants } = schema
export type WebhookRow = typeof webhooks.$inferSelect

export const insertWebhook = insertInto(webhooks)

export const findWebhook = findBy(webhooks, 'tenantId', 'webhookId')

export async function findWebhooks(queries: Queries, webhookIds: readonly string[]) {
  return await queries
    .select()
    .from(webhooks)
    .where(inArray(webhooks.webhookId, [...webhookIds]))
}

export async function countWebhooks(queries: Queries, tenantId: string): Promise<number> {
  return await queries.$count(webhooks, eq(webhooks.tenantId, tenantId))
}

/** The oldest first. */
export async function webhooksAfter(
  queries: Queries,
  tenantId: string,
  [createdAt, webhookId]: readonly [number, string],
  limit: number,
): Promise<WebhookRow[]> {
  const isLater = or(
    gt(webhooks.createdAt, createdAt),
    and(eq(webhooks.createdAt, createdAt), gt(webhooks.webhookId, webhookId)),
  )
  return await queries
    .select()
    .from(webhooks)
    .where(and(eq(webhooks.tenantId, tenantId), isLater))
    .orderBy(asc(webhooks.createdAt), asc(webhooks.webhookId))
    .limit(limit)
}

/** Those that are told of events: active, and of tenants whose plan has webhooks. */
export async function listeningWebhooks(queries: Queries, tenantIds: readonly string[]) {
  return await queries
    .select({
      webhookId: webhooks.webhookId,
      tenantId: webhooks.tenantId,
      events: webhooks.events,
      fromSequence: webhooks.fromSequence,
      generation: webhooks.generation,
    })
    .from(webhooks)
    .innerJoin(tenants, eq(tenants.tenantId, webhooks.tenantId))
    .where(
      and(
        inArray(webhooks.tenantId, [...tenantIds]),
        eq(webhooks.state, 'active'),
        eq(tenants.plan, 'premium'),
      ),
    )
}

export const updateWebhook = updateBy(webhooks, 'webhookId')

/** Of those that had failed: something has arrived. */
export async function forgetFailures(queries: Queries, webhookIds: readonly string[]) {
  await queries
    .update(webhooks)
    .set({ failedCount: 0, failingSince: null })
    .where(and(inArray(webhooks.webhookId, [...webhookIds]), gt(webhooks.failedCount, 0)))
}

/** What has happened up to there is none of theirs. */
export async function hearFrom(queries: Queries, webhookIds: readonly string[], sequence: number) {
  await queries
    .update(webhooks)
    .set({ fromSequence: sequence })
    .where(inArray(webhooks.webhookId, [...webhookIds]))
}

/** The same for all of a tenant, and all that has happened so far. */
export async function listenFromNow(queries: Queries, tenantId: string): Promise<void> {
  await queries
    .update(webhooks)
    .set({ fromSequence: await newestEvent(queries) })
    .where(eq(webhooks.tenantId, tenantId))
}

export async function deleteWebhook(queries: Queries, webhookId: string): Promise<void> {
  await queries.delete(webhookEndings).where(eq(webhookEndings.webhookId, webhookId))
  await queries.delete(webhooks).where(eq(webhooks.webhookId, webhookId))
}
