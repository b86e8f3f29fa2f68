/** Of what waits until it is due: whose there is. */
import { sql, type SQL } from '../drizzle.ts'
import type { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'

/** Beyond it, whole tenants are fewer. */
const DUE_LOOKED_AT_MAX = 1_000

/**
 * The tenants of which something is due: those of all that is due. Only where that is very much, as
 * one tenant may have a hundred thousand, they are walked to from each to the next, and `isDueOf`
 * says of each (`waiting.tenant_id`) whether it has something.
 */
export async function tenantsWithDue(
  queries: Queries,
  table: typeof schema.mails | typeof schema.logoutNotices,
  nowMs: number,
  isDueOf: SQL,
): Promise<string[]> {
  const looked = sql`(SELECT tenant_id FROM ${table} WHERE next_at <= ${nowMs}
    ORDER BY next_at LIMIT ${DUE_LOOKED_AT_MAX}) AS looked`
  const found = await queries
    .select({ tenantId: sql<string>`tenant_id`, rows: sql<number>`count(*)` })
    .from(looked)
    .groupBy(sql`tenant_id`)
    .orderBy(sql`tenant_id`)
  const isAll = found.reduce((sum, { rows }) => sum + rows, 0) < DUE_LOOKED_AT_MAX
  return isAll ? found.map(({ tenantId }) => tenantId) : walkToThem(queries, table, isDueOf)
}

async function walkToThem(
  queries: Queries,
  table: typeof schema.mails | typeof schema.logoutNotices,
  isDueOf: SQL,
): Promise<string[]> {
  const found = sql`(
    WITH RECURSIVE waiting (tenant_id) AS (
      SELECT min(tenant_id) FROM ${table}
      UNION ALL
      SELECT (SELECT min(later.tenant_id) FROM ${table} AS later
              WHERE later.tenant_id > waiting.tenant_id)
      FROM waiting WHERE waiting.tenant_id IS NOT NULL)
    SELECT waiting.tenant_id FROM waiting WHERE ${isDueOf}) AS found`
  const rows = await queries.select({ tenantId: sql<string>`found.tenant_id` }).from(found)
  return rows.map(({ tenantId }) => tenantId)
}
