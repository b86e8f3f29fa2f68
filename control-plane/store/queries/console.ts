/** Roles, sessions and links of the console. */
import { and, asc, eq, gt, isNull } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { allBy, deleteBefore, deleteBy, findBy, insertInto, upsertInto } from '../statements.ts'

const { consoleRoles: roles, consoleSessions: sessions } = schema
const { consoleLinks: links, consoleInvitations: invitations } = schema
const { connectorTokens: tokens, deviceTickets: tickets, deviceCodes: codes } = schema

export type ConsoleRoleRow = typeof roles.$inferSelect
export type ConsoleSessionRow = typeof sessions.$inferSelect

/** The tenant id of an operator's role. */
export const ALL_TENANTS = ''

export const rolesOf = allBy(roles, ['userId'], asc(roles.tenantId))

/** Who has a role in this tenant, or, for `ALL_TENANTS`, is an operator. */
export async function rolesIn(queries: Queries, tenantId: string, limit: number, afterUserId = '') {
  return await queries
    .select()
    .from(roles)
    .where(and(eq(roles.tenantId, tenantId), gt(roles.userId, afterUserId)))
    .orderBy(asc(roles.userId))
    .limit(limit)
}

/** Whether there is any operator; who may only look is none. */
export async function isRunAtAll(queries: Queries): Promise<boolean> {
  const isOperator = and(eq(roles.tenantId, ALL_TENANTS), eq(roles.role, 'operator'))
  return (await queries.select().from(roles).where(isOperator).limit(1)).length > 0
}

export const upsertRole = upsertInto(roles, ['userId', 'tenantId'], 'role')

export const deleteRole = deleteBy(roles, 'userId', 'tenantId')

export const deleteRolesOf = deleteBy(roles, 'userId')

/** What somebody has made to let others in, people or machines: they can have lost what it gives. */
export async function deleteWaysInBy(queries: Queries, userId: string, tenantId: string) {
  // an operator's were to any tenant
  const isIn = (table: typeof invitations | typeof tokens | typeof tickets) =>
    tenantId === ALL_TENANTS ? undefined : eq(table.tenantId, tenantId)
  const isTheirs = eq(invitations.invitedBy, userId)
  await queries.delete(invitations).where(and(isTheirs, isIn(invitations)))
  for (const table of [tokens, tickets])
    await queries.delete(table).where(and(eq(table.madeBy, userId), isIn(table)))
}

/** Of a person, or of one session: what lets somebody in who has not come yet. */
export async function deleteWaysInOf(
  queries: Queries,
  made: { readonly subject: string } | { readonly sid: string },
) {
  const isTheirs = (
    by: typeof invitations.invitedBy | typeof codes.allowedBy,
    within: typeof invitations.invitedIn | typeof codes.allowedIn,
  ) => ('sid' in made ? eq(within, made.sid) : eq(by, made.subject))
  await queries.delete(invitations).where(isTheirs(invitations.invitedBy, invitations.invitedIn))
  await queries
    .update(codes)
    .set({ state: 'denied' })
    .where(isTheirs(codes.allowedBy, codes.allowedIn))
}

export const insertConsoleSession = insertInto(sessions)

export const findConsoleSession = findBy(sessions, 'sessionHash')

export async function touchConsoleSession(
  queries: Queries,
  sessionHash: string,
  lastSeenAt: number,
): Promise<void> {
  await queries.update(sessions).set({ lastSeenAt }).where(eq(sessions.sessionHash, sessionHash))
}

export const deleteConsoleSession = deleteBy(sessions, 'sessionHash')

export const deleteConsoleSessionsBefore = deleteBefore(sessions.expiresAt)

export async function insertLink(
  queries: Queries,
  row: { linkHash: string; createdAt: number; expiresAt: number },
): Promise<void> {
  await queries.insert(links).values({ ...row, usedAt: null })
}

const isGood = (linkHash: string, nowMs: number) =>
  and(eq(links.linkHash, linkHash), isNull(links.usedAt), gt(links.expiresAt, nowMs))

export async function isLinkGood(queries: Queries, linkHash: string, nowMs: number) {
  return (await queries.$count(links, isGood(linkHash, nowMs))) > 0
}

/** Whether it was good; of several at once one is told so. */
export async function spendLink(queries: Queries, linkHash: string, nowMs: number) {
  const spent = await queries
    .update(links)
    .set({ usedAt: nowMs })
    .where(isGood(linkHash, nowMs))
    .returning({ linkHash: links.linkHash })
  return spent.length > 0
}

/** The newest link is the only one. */
export async function deleteLinks(queries: Queries): Promise<void> {
  await queries.delete(links)
}
