import { and, asc, desc, eq, inArray, lt, lte, max } from 'drizzle-orm'
import { schema } from '../schema.ts'
import type { Queries } from '../sqlite.ts'

const table = schema.enforcementEvents
export type EnforcementEventRow = typeof table.$inferSelect
export type NewEnforcementEvent = Omit<EnforcementEventRow, 'tenantId' | 'sequence'>

const ROWS_PER_STATEMENT = 100

/** The oldest make room for them once the tenant has more than `most`. */
export async function addEnforcementEvents(
  queries: Queries,
  tenantId: string,
  events: readonly NewEnforcementEvent[],
  most: number,
): Promise<void> {
  const isOwn = eq(table.tenantId, tenantId)
  const [newest] = await queries
    .select({ sequence: max(table.sequence) })
    .from(table)
    .where(isOwn)
  let sequence = newest?.sequence ?? 0
  const rows = events.map((event) => ({ ...event, tenantId, sequence: ++sequence }))
  for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT)
    await queries.insert(table).values(rows.slice(at, at + ROWS_PER_STATEMENT))
  await queries.delete(table).where(and(isOwn, lte(table.sequence, sequence - most)))
}

/** Newest first. */
export async function enforcementEventsBefore(
  queries: Queries,
  tenantId: string,
  before: number | undefined,
  limit: number,
): Promise<EnforcementEventRow[]> {
  const isEarlier = before === undefined ? undefined : lt(table.sequence, before)
  return await queries
    .select()
    .from(table)
    .where(and(eq(table.tenantId, tenantId), isEarlier))
    .orderBy(desc(table.sequence))
    .limit(limit)
}

export async function deleteEnforcementEventsBefore(
  queries: Queries,
  beforeMs: number,
  limit: number,
): Promise<number> {
  const old = await queries
    .select({ tenantId: table.tenantId, sequence: table.sequence })
    .from(table)
    .where(lt(table.at, beforeMs))
    .orderBy(asc(table.at))
    .limit(limit)
  for (const [tenantId, ofTenant] of Map.groupBy(old, (row) => row.tenantId)) {
    const sequences = ofTenant.map((row) => row.sequence)
    await queries
      .delete(table)
      .where(and(eq(table.tenantId, tenantId), inArray(table.sequence, sequences)))
  }
  return old.length
}
