/** Which weeks tenants have been told of. The key refuses a second digest of the same week. */
import { and, asc, desc, eq, gt, lte, ne, notExists, sql } from '../drizzle.ts'
import { CONSOLE_REALM } from '../reserved.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteBefore, preparedBy } from '../statements.ts'

const { digests: table, tenants } = schema
export type DigestRow = typeof table.$inferSelect

const findZones = preparedBy((queries) =>
  queries.selectDistinct({ timeZone: tenants.timeZone }).from(tenants),
)

export async function timeZonesInUse(queries: Queries): Promise<string[]> {
  return (await findZones(queries, {})).map(({ timeZone }) => timeZone)
}

/** Asked of each zone, at each look. */
const findWithout = preparedBy((queries) => {
  const isOfWeek = eq(table.week, sql.placeholder('week'))
  const told = queries
    .select({ week: table.week })
    .from(table)
    .where(and(eq(table.tenantId, tenants.tenantId), isOfWeek))
  const isNext = gt(tenants.tenantId, sql.placeholder('after'))
  const isInZone = eq(tenants.timeZone, sql.placeholder('timeZone'))
  return queries
    .select({ tenantId: tenants.tenantId })
    .from(tenants)
    .where(and(isInZone, isNext, ne(tenants.tenantId, CONSOLE_REALM), notExists(told)))
    .orderBy(asc(tenants.tenantId))
    .limit(sql.placeholder('limit'))
})

export async function tenantsWithoutDigest(
  queries: Queries,
  timeZone: string,
  week: string,
  after: string,
  limit: number,
): Promise<string[]> {
  const rows = await findWithout(queries, { timeZone, week, after, limit })
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
