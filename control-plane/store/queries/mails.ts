import { and, asc, eq, lte } from 'drizzle-orm'
import { schema } from '../schema.ts'
import type { Queries } from '../sqlite.ts'

const table = schema.mails
export type MailRow = typeof table.$inferSelect

export async function insertMail(queries: Queries, row: MailRow): Promise<void> {
  await queries.insert(table).values(row)
}

export async function dueMails(queries: Queries, nowMs: number, limit: number): Promise<MailRow[]> {
  return await queries
    .select()
    .from(table)
    .where(lte(table.nextAt, nowMs))
    .orderBy(asc(table.nextAt), asc(table.mailId))
    .limit(limit)
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
