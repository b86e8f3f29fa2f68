import { randomUUID } from 'node:crypto'
import { and, asc, eq, gt, isNotNull, isNull, lte, sql } from '../drizzle.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteBy, insertRows, updateBy } from '../statements.ts'
import { tenantsWithDue } from './due-tenants.ts'
import { sessionsMeant, type SessionTargets } from './sessions.ts'

const table = schema.logoutNotices
const { sessions, tenants } = schema
export type LogoutNoticeRow = typeof table.$inferSelect

/** Whoever is about to end, where the tenant's application wants to hear of it. */
export async function noteLogouts(
  queries: Queries,
  tenantId: string,
  target: SessionTargets,
  nowMs: number,
): Promise<number> {
  const [tenant] = await queries
    .select({ tenantId: tenants.tenantId })
    .from(tenants)
    .where(and(eq(tenants.tenantId, tenantId), isNotNull(tenants.backchannelLogoutUri)))
  if (tenant === undefined) return 0
  const areMeant = sessionsMeant(target)
  const ending = await queries
    .select({ sid: sessions.sid, userId: sessions.userId })
    .from(sessions)
    .where(
      and(
        // by their keys alone: asked for the tenant as well, the planner would read all of its sessions
        'sids' in target ? undefined : eq(sessions.tenantId, tenantId),
        areMeant,
        isNull(sessions.endedAt),
        gt(sessions.expiresAt, nowMs),
      ),
    )
    .limit(LIMITS.logoutNoticesAtOnceMax)
  const rows = ending.map(({ sid, userId }) => ({
    noticeId: randomUUID(),
    tenantId,
    userId,
    sid,
    attempts: 0,
    createdAt: nowMs,
    nextAt: nowMs,
    writtenAt: nowMs,
  }))
  await insertRows(queries, table, rows)
  return rows.length
}

/** The tenants of which something is due. */
export async function tenantsWithDueLogoutNotices(queries: Queries, nowMs: number) {
  const isDue = sql`EXISTS (SELECT 1 FROM logout_notices AS due
    WHERE due.tenant_id = waiting.tenant_id AND due.next_at <= ${nowMs})`
  return tenantsWithDue(queries, table, nowMs, isDue)
}

export async function nextDueLogoutNotice(queries: Queries, tenantId: string, nowMs: number) {
  const [row] = await queries
    .select()
    .from(table)
    .where(and(eq(table.tenantId, tenantId), lte(table.nextAt, nowMs)))
    .orderBy(asc(table.nextAt))
    .limit(1)
  return row
}

/** Whether it is still as it was seen: of two that want to send it one gets it. */
export const claimLogoutNotice = updateBy(table, 'noticeId', 'nextAt')

export const deleteLogoutNotice = deleteBy(table, 'noticeId')
