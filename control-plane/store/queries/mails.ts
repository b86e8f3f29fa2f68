import { and, asc, desc, eq, gt, lte, sql } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteBy, insertInto, updateBy } from '../statements.ts'
import { tenantsWithDue } from './due-tenants.ts'

const table = schema.mails
export type MailRow = typeof table.$inferSelect

export const insertMail = insertInto(table)

/** The tenants of which something is due. */
export async function tenantsWithDueMails(queries: Queries, nowMs: number): Promise<string[]> {
  const isDue = (kind: MailRow['kind']) => sql`EXISTS (
    SELECT 1 FROM mails AS due
    WHERE due.tenant_id = waiting.tenant_id AND due.kind = ${kind} AND due.next_at <= ${nowMs})`
  return tenantsWithDue(queries, table, nowMs, sql`${isDue('link')} OR ${isDue('notice')}`)
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

/** Of a tenant's links those whose turn is still to come, and when the last of them has it. */
export async function linksAhead(
  queries: Queries,
  tenantId: string,
  nowMs: number,
): Promise<{ readonly count: number; readonly lastAt: number } | undefined> {
  const areAhead = and(
    eq(table.tenantId, tenantId),
    eq(table.kind, 'link'),
    gt(table.nextAt, nowMs),
    eq(table.attempts, 0), // else it has been tried, and the mail server is away
  )
  const [last] = await queries
    .select({ at: table.nextAt })
    .from(table)
    .where(areAhead)
    .orderBy(desc(table.nextAt))
    .limit(1)
  if (last === undefined) return undefined
  return { count: await queries.$count(table, areAhead), lastAt: last.at }
}

/** Whether it is still as it was seen: of two that want to send it one gets it. */
export const claimMail = updateBy(table, 'mailId', 'nextAt')

export const deleteMail = deleteBy(table, 'mailId')
