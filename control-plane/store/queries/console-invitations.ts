/** Colleagues who are invited to administer a tenant, until they accept. */
import { and, asc, eq, gt } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteBefore, deleteBy, findBy, upsertInto } from '../statements.ts'

const { consoleInvitations: table } = schema

export type InvitationRow = typeof table.$inferSelect

export const upsertInvitation = upsertInto(
  table,
  ['tenantId', 'emailKey'],
  'email',
  'invitedBy',
  'role',
  'invitedIn',
  'linkHash',
  'sentAt',
  'expiresAt',
)

export const findInvitation = findBy(table, 'tenantId', 'invitationId')

export const findInvitationTo = findBy(table, 'tenantId', 'emailKey')

export const findInvitationByLink = findBy(table, 'linkHash')

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
  const isWaiting = and(eq(table.tenantId, tenantId), gt(table.expiresAt, nowMs))
  return await queries.$count(table, isWaiting)
}

/** Whether it was there: of several at once one is told so. */
export const deleteInvitation = deleteBy(table, 'invitationId')

export const deleteInvitationsExpiredBefore = deleteBefore(table.expiresAt)
