import { and, asc, eq, lte, sql } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../sqlite.ts'

const table = schema.mails
export type MailRow = typeof table.$inferSelect

export async function insertMail(queries: Queries, row: MailRow): Promise<void> {
  await queries.insert(table).values(row)
}

/** Beyond it, whole tenants are fewer. */
const DUE_LOOKED_AT_MAX = 1_000

/**
 * The tenants of which something is due: those of all that is due. Only where that is very much, as
 * one tenant may have a hundred thousand, they are walked to from each to the next.
 */
export async function tenantsWithDueMails(queries: Queries, nowMs: number): Promise<string[]> {
  const due = await queries
    .select({ tenantId: table.tenantId })
    .from(table)
    .where(lte(table.nextAt, nowMs))
    .orderBy(asc(table.nextAt))
    .limit(DUE_LOOKED_AT_MAX)
  if (due.length === DUE_LOOKED_AT_MAX) return walkToDueTenants(queries, nowMs)
  return [...new Set(due.map(({ tenantId }) => tenantId))].sort()
}

async function walkToDueTenants(queries: Queries, nowMs: number): Promise<string[]> {
  const isDue = (kind: MailRow['kind']) => sql`EXISTS (
    SELECT 1 FROM mails AS due
    WHERE due.tenant_id = waiting.tenant_id AND due.kind = ${kind} AND due.next_at <= ${nowMs})`
  const found = sql`(
    WITH RECURSIVE waiting (tenant_id) AS (
      SELECT min(tenant_id) FROM mails
      UNION ALL
      SELECT (SELECT min(later.tenant_id) FROM mails AS later
              WHERE later.tenant_id > waiting.tenant_id)
      FROM waiting WHERE waiting.tenant_id IS NOT NULL)
    SELECT waiting.tenant_id FROM waiting
    WHERE ${isDue('link')} OR ${isDue('notice')}) AS found`
  const rows = await queries.select({ tenantId: sql<string>`found.tenant_id` }).from(found)
  return rows.map(({ tenantId }) => tenantId)
}

/** Of this tenant: what somebody waits for, then what tells of something. */
export async function nextDueMail(
  queries: Queries,
  tenantId: string,
  nowMs: number,
): Promise<MailRow | undefined> {
  for (const kind of ['link', 'notice'] as const) {
    const [row] = await queries
      .select()
      .from(table)
      .where(and(eq(table.tenantId, tenantId), eq(table.kind, kind), lte(table.nextAt, nowMs)))
      .orderBy(asc(table.nextAt))
      .limit(1)
    if (row !== undefined) return row
  }
  return undefined
}

/** Whether it is still as it was seen: of two that want to send it one gets it. */
export async function claimMail(
  queries: Queries,
  { mailId, nextAt }: Pick<MailRow, 'mailId' | 'nextAt'>,
  changes: Pick<MailRow, 'attempts' | 'nextAt'>,
): Promise<boolean> {
  const rows = await queries
    .update(table)
    .set(changes)
    .where(and(eq(table.mailId, mailId), eq(table.nextAt, nextAt)))
    .returning({ mailId: table.mailId })
  return rows.length > 0
}

export async function deleteMail(queries: Queries, mailId: string): Promise<void> {
  await queries.delete(table).where(eq(table.mailId, mailId))
}
