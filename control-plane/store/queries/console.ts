/** Roles, sessions and links of the console. */
import { and, asc, eq, gt, isNull, lt } from '../drizzle.ts'
import { schema } from '../schema.ts'
import { deleteSome } from '../delete-some.ts'
import type { Queries } from '../sqlite.ts'

const { consoleRoles: roles, consoleSessions: sessions } = schema
const { consoleLinks: links, consoleInvitations: invitations } = schema

export type ConsoleRoleRow = typeof roles.$inferSelect
export type ConsoleSessionRow = typeof sessions.$inferSelect

/** The tenant id of an operator's role. */
export const ALL_TENANTS = ''

export async function rolesOf(queries: Queries, userId: string): Promise<ConsoleRoleRow[]> {
  return await queries
    .select()
    .from(roles)
    .where(eq(roles.userId, userId))
    .orderBy(asc(roles.tenantId))
}

/** Who has a role in this tenant, or, for `ALL_TENANTS`, is an operator. */
export async function rolesIn(queries: Queries, tenantId: string, limit: number, afterUserId = '') {
  return await queries
    .select()
    .from(roles)
    .where(and(eq(roles.tenantId, tenantId), gt(roles.userId, afterUserId)))
    .orderBy(asc(roles.userId))
    .limit(limit)
}

export async function upsertRole(queries: Queries, row: ConsoleRoleRow): Promise<void> {
  await queries
    .insert(roles)
    .values(row)
    .onConflictDoUpdate({ target: [roles.userId, roles.tenantId], set: { role: row.role } })
}

export async function deleteRole(queries: Queries, userId: string, tenantId: string) {
  const gone = await queries
    .delete(roles)
    .where(and(eq(roles.userId, userId), eq(roles.tenantId, tenantId)))
    .returning({ userId: roles.userId })
  return gone.length > 0
}

export async function deleteRolesOf(queries: Queries, userId: string): Promise<void> {
  await queries.delete(roles).where(eq(roles.userId, userId))
}

/** Who has sent an invitation can have lost what it gives. */
export async function deleteInvitationsBy(queries: Queries, userId: string, tenantId: string) {
  const isTheirs = eq(invitations.invitedBy, userId)
  // an operator's were to any tenant
  const isIn = tenantId === ALL_TENANTS ? undefined : eq(invitations.tenantId, tenantId)
  await queries.delete(invitations).where(and(isTheirs, isIn))
}

export async function insertConsoleSession(queries: Queries, row: ConsoleSessionRow) {
  await queries.insert(sessions).values(row)
}

export async function findConsoleSession(queries: Queries, sessionHash: string) {
  const [row] = await queries.select().from(sessions).where(eq(sessions.sessionHash, sessionHash))
  return row
}

export async function touchConsoleSession(
  queries: Queries,
  sessionHash: string,
  lastSeenAt: number,
): Promise<void> {
  await queries.update(sessions).set({ lastSeenAt }).where(eq(sessions.sessionHash, sessionHash))
}

export async function deleteConsoleSession(queries: Queries, sessionHash: string): Promise<void> {
  await queries.delete(sessions).where(eq(sessions.sessionHash, sessionHash))
}

export async function deleteConsoleSessionsBefore(queries: Queries, nowMs: number, limit: number) {
  return deleteSome(queries, sessions.sessionHash, lt(sessions.expiresAt, nowMs), limit)
}

export async function insertLink(
  queries: Queries,
  row: { linkHash: string; createdAt: number; expiresAt: number },
): Promise<void> {
  await queries.insert(links).values({ ...row, usedAt: null })
}

export async function isLinkGood(queries: Queries, linkHash: string, nowMs: number) {
  const rows = await queries
    .select({ linkHash: links.linkHash })
    .from(links)
    .where(and(eq(links.linkHash, linkHash), isNull(links.usedAt), gt(links.expiresAt, nowMs)))
  return rows.length > 0
}

/** Whether it was good; of several at once one is told so. */
export async function spendLink(queries: Queries, linkHash: string, nowMs: number) {
  const spent = await queries
    .update(links)
    .set({ usedAt: nowMs })
    .where(and(eq(links.linkHash, linkHash), isNull(links.usedAt), gt(links.expiresAt, nowMs)))
    .returning({ linkHash: links.linkHash })
  return spent.length > 0
}

/** The newest link is the only one. */
export async function deleteLinks(queries: Queries): Promise<void> {
  await queries.delete(links)
}
