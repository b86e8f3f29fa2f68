/** Which weeks tenants have been told of. The key refuses a second digest of the same week. */
import { and, asc, desc, eq, gt, lte, ne, notExists } from '../drizzle.ts'
import { CONSOLE_REALM } from '../reserved.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteBefore } from '../statements.ts'

const { digests: table, tenants } = schema
export type DigestRow = typeof table.$inferSelect

export async function timeZonesInUse(queries: Queries): Promise<string[]> {
  const rows = await queries.selectDistinct({ timeZone: tenants.timeZone }).from(tenants)
  return rows.map(({ timeZone }) => timeZone)
}

export async function tenantsWithoutDigest(
  queries: Queries,
  timeZone: string,
  week: string,
  after: string,
  limit: number,
): Promise<string[]> {
  const isTenant = ne(tenants.tenantId, CONSOLE_REALM)
  const told = queries
    .select({ week: table.week })
    .from(table)
    .where(and(eq(table.tenantId, tenants.tenantId), eq(table.week, week)))
  const rows = await queries
    .select({ tenantId: tenants.tenantId })
    .from(tenants)
    .where(
      and(eq(tenants.timeZone, timeZone), gt(tenants.tenantId, after), isTenant, notExists(told)),
    )
    .orderBy(asc(tenants.tenantId))
    .limit(limit)
  return rows.map(({ tenantId }) => tenantId)
}

/** Of what ended by now: one that lies ahead was written while the clock was wrong. */
export async function newestDigest(queries: Queries, tenantId: string, nowMs: number) {
  const [row] = await queries
    .select()
    .from(table)
    .where(and(eq(table.tenantId, tenantId), lte(table.until, nowMs)))
    .orderBy(desc(table.until), desc(table.week))
    .limit(1)
  return row
}

/** False: there is one of that week. */
export async function insertDigest(queries: Queries, row: DigestRow): Promise<boolean> {
  const made = await queries
    .insert(table)
    .values(row)
    .onConflictDoNothing()
    .returning({ week: table.week })
  return made.length > 0
}

export const deleteDigestsBefore = deleteBefore(table.until)
