import { setImmediate as breathe } from 'node:timers/promises'
import { and, asc, desc, eq, gt, inArray, lte } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteBefore, upsertInto } from '../statements.ts'

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

/** Of one tenant, by name, so many in a turn: there may be ten thousand. */
export async function feedInstancesOf(queries: Queries, tenantId: string, most: number) {
  const rows: FeedInstanceRow[] = []
  for (;;) {
    const last = rows.at(-1)
    const isBehind = last && gt(table.name, last.name)
    const some = await queries
      .select()
      .from(table)
      .where(and(eq(table.tenantId, tenantId), isBehind))
      .orderBy(asc(table.name))
      .limit(Math.min(READ_TOGETHER, most - rows.length))
    rows.push(...some)
    if (some.length < READ_TOGETHER || rows.length >= most) return rows
    await breathe()
  }
}

const READ_TOGETHER = 500

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
