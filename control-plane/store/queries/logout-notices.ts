import { randomUUID } from 'node:crypto'
import { and, asc, eq, gt, inArray, isNotNull, isNull, lte, sql, type SQL } from '../drizzle.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteBy, insertRows, updateBy } from '../statements.ts'
import { tenantsWithDue } from './due-tenants.ts'
import { realmClientsOf } from './realm-clients.ts'
import { sessionsMeant, type SessionTargets } from './sessions.ts'

const table = schema.logoutNotices
const { clientSessions: known, sessions, tenants } = schema
export type LogoutNoticeRow = typeof table.$inferSelect
type Told = Pick<LogoutNoticeRow, 'userId' | 'clientId'> & { readonly sid: string }

/** Whoever is about to end, for each application that wants to hear of it. */
export async function noteLogouts(
  queries: Queries,
  tenantId: string,
  target: SessionTargets,
  nowMs: number,
): Promise<number> {
  const areMeant = and(
    // by their keys alone: asked for the tenant as well, the planner would read all of its sessions
    'sids' in target ? undefined : eq(sessions.tenantId, tenantId),
    sessionsMeant(target),
    isNull(sessions.endedAt),
    gt(sessions.expiresAt, nowMs),
  )
  const ending = [
    ...(await knownToApplication(queries, tenantId, areMeant)),
    ...(await knownToClients(queries, tenantId, areMeant)),
  ]
  const rows = ending.map(({ sid, userId, clientId }) => ({
    noticeId: randomUUID(),
    tenantId,
    userId,
    sid,
    clientId,
    attempts: 0,
    createdAt: nowMs,
    nextAt: nowMs,
    writtenAt: nowMs,
  }))
  await insertRows(queries, table, rows)
  return rows.length
}

async function knownToApplication(
  queries: Queries,
  tenantId: string,
  areMeant: SQL | undefined,
): Promise<readonly Told[]> {
  const [tenant] = await queries
    .select({ tenantId: tenants.tenantId })
    .from(tenants)
    .where(and(eq(tenants.tenantId, tenantId), isNotNull(tenants.backchannelLogoutUri)))
  if (tenant === undefined) return []
  const rows = await queries
    .select({ sid: sessions.sid, userId: sessions.userId })
    .from(sessions)
    .where(areMeant)
    .limit(LIMITS.logoutNoticesAtOnceMax)
  return rows.map((row) => ({ ...row, clientId: null }))
}

/** Other applications hear only of sessions that they have a token of. */
async function knownToClients(
  queries: Queries,
  tenantId: string,
  areMeant: SQL | undefined,
): Promise<readonly Told[]> {
  const listening = (await realmClientsOf(queries, tenantId)).flatMap((one) =>
    one.backchannelLogoutUri === null ? [] : [one.clientId],
  )
  if (listening.length === 0) return []
  return await queries
    .select({ sid: sessions.sid, userId: sessions.userId, clientId: known.clientId })
    .from(sessions)
    .innerJoin(known, and(eq(known.tenantId, tenantId), eq(known.sid, sessions.sid)))
    .where(and(areMeant, inArray(known.clientId, listening)))
    .limit(LIMITS.logoutNoticesAtOnceMax)
}

/** The tenants of which something is due. */
export async function tenantsWithDueLogoutNotices(queries: Queries, nowMs: number) {
  const isDue = sql`EXISTS (SELECT 1 FROM logout_notices AS due
    WHERE due.tenant_id = waiting.tenant_id AND due.next_at <= ${nowMs})`
  return tenantsWithDue(queries, table, nowMs, isDue)
}

/** Who is to hear of it: the tenant's own application, or one of the others. */
export type LogoutListeners = 'own' | 'others'

export async function nextDueLogoutNotice(
  queries: Queries,
  tenantId: string,
  listeners: LogoutListeners,
  nowMs: number,
) {
  const isTheirs = listeners === 'own' ? isNull(table.clientId) : isNotNull(table.clientId)
  const [row] = await queries
    .select()
    .from(table)
    .where(and(eq(table.tenantId, tenantId), isTheirs, lte(table.nextAt, nowMs)))
    .orderBy(asc(table.nextAt))
    .limit(1)
  return row
}

/** Whether it is still as it was seen: of two that want to send it one gets it. */
export const claimLogoutNotice = updateBy(table, 'noticeId', 'nextAt')

export const deleteLogoutNotice = deleteBy(table, 'noticeId')
