import { and, desc, eq, inArray, lte } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteBefore, firstBy, upsertInto } from '../statements.ts'

const table = schema.feedInstances
type FeedInstanceRow = typeof table.$inferSelect
interface Gone extends Pick<FeedInstanceRow, 'tenantId' | 'name'> {
  readonly lastPollMs: number
}

const ROWS_PER_STATEMENT = 100

/** Of several tenants, those that asked last; newest first. */
export async function newestFeedInstances(queries: Queries, limit: number) {
  return await queries.select().from(table).orderBy(desc(table.lastPollAt)).limit(limit)
}

/** Of one tenant, those that asked last. */
export const feedInstancesOf = firstBy(table, ['tenantId'], desc(table.lastPollAt))

export const upsertFeedInstances = upsertInto(
  table,
  ['tenantId', 'name'],
  'version',
  'etag',
  'clockOffsetMs',
  'lastPollAt',
)

/** Unless they have asked another control plane since. */
export async function deleteFeedInstances(queries: Queries, keys: readonly Gone[]) {
  for (const [tenantId, ofTenant] of Map.groupBy(keys, (key) => key.tenantId))
    for (let at = 0; at < ofTenant.length; at += ROWS_PER_STATEMENT) {
      const some = ofTenant.slice(at, at + ROWS_PER_STATEMENT)
      const names = some.map(({ name }) => name)
      const lastMs = Math.max(...some.map(({ lastPollMs }) => lastPollMs))
      await queries
        .delete(table)
        .where(
          and(
            eq(table.tenantId, tenantId),
            inArray(table.name, names),
            lte(table.lastPollAt, lastMs),
          ),
        )
    }
}

export const deleteFeedInstancesBefore = deleteBefore(table.lastPollAt)
