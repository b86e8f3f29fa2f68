import { and, desc, eq, inArray, lt, sql } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../sqlite.ts'

const table = schema.feedInstances
type FeedInstanceRow = typeof table.$inferSelect
type InstanceKey = Pick<FeedInstanceRow, 'tenantId' | 'name'>

const ROWS_PER_STATEMENT = 100

/** Of several tenants, those that asked last; newest first. */
export async function newestFeedInstances(queries: Queries, limit: number) {
  return await queries.select().from(table).orderBy(desc(table.lastPollAt)).limit(limit)
}

export async function upsertFeedInstances(queries: Queries, rows: readonly FeedInstanceRow[]) {
  for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT)
    await queries
      .insert(table)
      .values(rows.slice(at, at + ROWS_PER_STATEMENT))
      .onConflictDoUpdate({
        target: [table.tenantId, table.name],
        set: {
          version: sql`excluded.version`,
          etag: sql`excluded.etag`,
          clockOffsetMs: sql`excluded.clock_offset_ms`,
          lastPollAt: sql`excluded.last_poll_at`,
        },
      })
}

export async function deleteFeedInstances(queries: Queries, keys: readonly InstanceKey[]) {
  for (const [tenantId, ofTenant] of Map.groupBy(keys, (key) => key.tenantId))
    for (let at = 0; at < ofTenant.length; at += ROWS_PER_STATEMENT) {
      const names = ofTenant.slice(at, at + ROWS_PER_STATEMENT).map(({ name }) => name)
      await queries
        .delete(table)
        .where(and(eq(table.tenantId, tenantId), inArray(table.name, names)))
    }
}

export async function deleteFeedInstancesBefore(queries: Queries, beforeMs: number, limit: number) {
  const old = await queries
    .select({ tenantId: table.tenantId, name: table.name })
    .from(table)
    .where(lt(table.lastPollAt, beforeMs))
    .limit(limit)
  await deleteFeedInstances(queries, old)
  return old.length
}
