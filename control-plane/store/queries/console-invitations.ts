/** Colleagues who are invited to administer a tenant, until they accept. */
import { and, asc, count, eq, gt, lt } from '../drizzle.ts'
import { schema } from '../schema.ts'
import { deleteSome } from '../delete-some.ts'
import type { Queries } from '../sqlite.ts'

const { consoleInvitations: table } = schema

export type InvitationRow = typeof table.$inferSelect

export async function upsertInvitation(queries: Queries, row: InvitationRow): Promise<void> {
  const { email, invitedBy, linkHash, sentAt, expiresAt } = row
  await queries
    .insert(table)
    .values(row)
    .onConflictDoUpdate({
      target: [table.tenantId, table.emailKey],
      set: { email, invitedBy, linkHash, sentAt, expiresAt },
    })
}

export async function findInvitation(queries: Queries, tenantId: string, invitationId: string) {
  const isIt = and(eq(table.tenantId, tenantId), eq(table.invitationId, invitationId))
  const [row] = await queries.select().from(table).where(isIt)
  return row
}

export async function findInvitationTo(queries: Queries, tenantId: string, emailKey: string) {
  const isIt = and(eq(table.tenantId, tenantId), eq(table.emailKey, emailKey))
  const [row] = await queries.select().from(table).where(isIt)
  return row
}

export async function findInvitationByLink(queries: Queries, linkHash: string) {
  const [row] = await queries.select().from(table).where(eq(table.linkHash, linkHash))
  return row
}

/** Those that still stand: of one tenant by whom they are for, or to one person by tenant. */
export async function invitationsWaiting(
  queries: Queries,
  of: { readonly tenantId: string } | { readonly emailKey: string },
  nowMs: number,
  limit: number,
): Promise<InvitationRow[]> {
  const [isTheirs, order] =
    'tenantId' in of
      ? [eq(table.tenantId, of.tenantId), table.emailKey]
      : [eq(table.emailKey, of.emailKey), table.tenantId]
  return await queries
    .select()
    .from(table)
    .where(and(isTheirs, gt(table.expiresAt, nowMs)))
    .orderBy(asc(order))
    .limit(limit)
}

export async function countInvitationsIn(queries: Queries, tenantId: string, nowMs: number) {
  const [row] = await queries
    .select({ waiting: count() })
    .from(table)
    .where(and(eq(table.tenantId, tenantId), gt(table.expiresAt, nowMs)))
  return row?.waiting ?? 0
}

/** Whether it was there: of several at once one is told so. */
export async function deleteInvitation(queries: Queries, invitationId: string): Promise<boolean> {
  const gone = await queries
    .delete(table)
    .where(eq(table.invitationId, invitationId))
    .returning({ invitationId: table.invitationId })
  return gone.length > 0
}

export async function deleteInvitationsExpiredBefore(
  queries: Queries,
  beforeMs: number,
  limit: number,
): Promise<number> {
  return deleteSome(queries, table.invitationId, lt(table.expiresAt, beforeMs), limit)
}
