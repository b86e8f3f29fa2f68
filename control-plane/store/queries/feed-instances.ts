import { and, desc, eq, inArray } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteBefore, upsertInto } from '../statements.ts'

const table = schema.feedInstances
type FeedInstanceRow = typeof table.$inferSelect
type InstanceKey = Pick<FeedInstanceRow, 'tenantId' | 'name'>

const ROWS_PER_STATEMENT = 100

/** Of several tenants, those that asked last; newest first. */
export async function newestFeedInstances(queries: Queries, limit: number) {
  return await queries.select().from(table).orderBy(desc(table.lastPollAt)).limit(limit)
}

export const upsertFeedInstances = upsertInto(
  table,
  ['tenantId', 'name'],
  'version',
  'etag',
  'clockOffsetMs',
  'lastPollAt',
)

export async function deleteFeedInstances(queries: Queries, keys: readonly InstanceKey[]) {
  for (const [tenantId, ofTenant] of Map.groupBy(keys, (key) => key.tenantId))
    for (let at = 0; at < ofTenant.length; at += ROWS_PER_STATEMENT) {
      const names = ofTenant.slice(at, at + ROWS_PER_STATEMENT).map(({ name }) => name)
      await queries
        .delete(table)
        .where(and(eq(table.tenantId, tenantId), inArray(table.name, names)))
    }
}

export const deleteFeedInstancesBefore = deleteBefore(table.lastPollAt)
