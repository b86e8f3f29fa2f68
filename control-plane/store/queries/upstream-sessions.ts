/** Which sessions have come by which session at a provider, and what a provider has ended. */
import { and, eq, sql } from '../drizzle.ts'
import type { Queries } from '../engine.ts'
import { schema } from '../schema.ts'
import { allBy, deleteBefore, upsertInto } from '../statements.ts'

const { upstreamLogouts: logouts, upstreamSessions: sessions } = schema

type UpstreamLogoutRow = typeof logouts.$inferSelect

export const putUpstreamSession = upsertInto(sessions, ['tenantId', 'sid'], 'expiresAt')
export const upstreamSessionsOfSid = allBy(sessions, ['tenantId', 'connectionId', 'upstreamSid'])
export const upstreamSessionsOfSubject = allBy(sessions, ['tenantId', 'connectionId', 'subject'])
export const deleteUpstreamSessionsBefore = deleteBefore(sessions.expiresAt)
export const deleteUpstreamLogoutsBefore = deleteBefore(logouts.expiresAt)

/** false: a token with this id was taken before, at whichever control plane. */
export async function insertUpstreamLogout(
  queries: Queries,
  row: UpstreamLogoutRow,
): Promise<boolean> {
  const rows = await queries
    .insert(logouts)
    .values(row)
    .onConflictDoNothing()
    .returning({ one: sql`1` })
  return rows.length > 0
}

/** Of one that is still under way here. */
export async function isEndedUpstream(
  queries: Queries,
  tenantId: string,
  connectionId: string,
  upstreamSid: string,
): Promise<boolean> {
  const found = await queries
    .select({ one: sql`1` })
    .from(logouts)
    .where(
      and(
        eq(logouts.tenantId, tenantId),
        eq(logouts.connectionId, connectionId),
        eq(logouts.upstreamSid, upstreamSid),
      ),
    )
    .limit(1)
  return found.length > 0
}
