/**
 * The end of what waits for webhooks: a generation of deliveries ends with one number of the webhook,
 * and that is all that decides whether they are sent. What became of each is written down later.
 */
import { LIMITS } from '../../../shared/limits.ts'
import { and, asc, eq, inArray, lte, sql } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'

const { webhooks, webhookEndings: endings, webhookDeliveries: deliveries } = schema
type EndingRow = typeof endings.$inferSelect
type Owner = { readonly tenantId: string } | { readonly webhookId: string }

/** Of a tenant or of one webhook; what is under way may still arrive. */
export async function endWaiting(
  queries: Queries,
  whose: Owner,
  end: Pick<EndingRow, 'state' | 'problem'>,
): Promise<void> {
  const isMeant =
    'webhookId' in whose
      ? eq(webhooks.webhookId, whose.webhookId)
      : eq(webhooks.tenantId, whose.tenantId)
  const { webhookId, tenantId, generation } = webhooks
  const ended = await queries
    .select({ webhookId, tenantId, generation })
    .from(webhooks)
    .where(isMeant)
  if (ended.length === 0) return
  await queries.insert(endings).values(ended.map((webhook) => ({ ...webhook, ...end })))
  await queries
    .update(webhooks)
    .set({ generation: sql`${generation} + 1` })
    .where(isMeant)
}

/** Some of it, of one tenant or of any. Answers whether there may be more. */
export async function writeEndings(queries: Queries, atMs: number, tenantId?: string) {
  const { webhookEndedAtOnceMax: rowsMax, webhookBytesAtOnceMax: bytesMax } = LIMITS
  const open = await queries
    .select()
    .from(endings)
    .where(tenantId === undefined ? undefined : eq(endings.tenantId, tenantId))
    .orderBy(asc(endings.webhookId), asc(endings.generation))
    .limit(rowsMax)
  const room = { rows: rowsMax, bytes: bytesMax }
  for (const ending of open) if (!(await writeSome(queries, ending, atMs, room))) return true
  return open.length === rowsMax
}

/** Within the room that is left, or one. Answers whether that was all. */
async function writeSome(
  queries: Queries,
  { webhookId, generation, state, problem }: EndingRow,
  atMs: number,
  room: { rows: number; bytes: number },
): Promise<boolean> {
  const waiting = await queries
    .select({
      deliveryId: deliveries.deliveryId,
      bytes: sql<number>`octet_length(${deliveries.body})`,
    })
    .from(deliveries)
    .where(
      and(
        eq(deliveries.state, 'pending'),
        eq(deliveries.webhookId, webhookId),
        lte(deliveries.generation, generation),
      ),
    )
    .limit(room.rows + 1)
  const ids: string[] = []
  for (const { deliveryId, bytes } of waiting) {
    const isOne = room.rows === LIMITS.webhookEndedAtOnceMax
    if (room.rows === 0 || (bytes > room.bytes && !isOne)) break
    room.rows--
    room.bytes -= bytes
    ids.push(deliveryId)
  }
  if (ids.length > 0)
    await queries
      .update(deliveries)
      .set({ state, problem, leaseOwner: null, updatedAt: atMs })
      .where(inArray(deliveries.deliveryId, ids))
  if (ids.length < waiting.length) return false
  await queries
    .delete(endings)
    .where(and(eq(endings.webhookId, webhookId), eq(endings.generation, generation)))
  return true
}
