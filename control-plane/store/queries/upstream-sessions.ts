/** Which sessions have come by which session at a provider, and what a provider has ended. */
import { and, eq, inArray, sql } from '../drizzle.ts'
import type { Queries } from '../engine.ts'
import { schema } from '../schema.ts'
import { deleteBefore, findBy, upsertInto } from '../statements.ts'

const { upstreamLogouts: logouts, upstreamSessions: sessions } = schema

type UpstreamLogoutRow = typeof logouts.$inferSelect

export const putUpstreamSession = upsertInto(sessions, ['tenantId', 'sid'], 'expiresAt')
export const findUpstreamLogout = findBy(logouts, 'connectionId', 'jtiHash')
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

/** Some of those that have come by it, whether they are over or not; at least one of both is told. */
export async function someUpstreamSessions(
  queries: Queries,
  { tenantId, connectionId }: Pick<UpstreamLogoutRow, 'tenantId' | 'connectionId'>,
  { sid, subject }: { readonly sid: string | undefined; readonly subject: string | undefined },
  limit: number,
) {
  const own = schema.sessions
  const areMeant = and(
    sid === undefined ? undefined : eq(sessions.upstreamSid, sid),
    subject === undefined ? undefined : eq(sessions.subject, subject),
  )
  return await queries
    .select({ sid: sessions.sid, userId: own.userId, endedAt: own.endedAt })
    .from(sessions)
    .leftJoin(own, eq(own.sid, sessions.sid))
    .where(and(eq(sessions.tenantId, tenantId), eq(sessions.connectionId, connectionId), areMeant))
    .limit(limit)
}

/** They are over, and no provider ends them once more. */
export async function forgetUpstreamSessions(
  queries: Queries,
  tenantId: string,
  sids: readonly string[],
): Promise<void> {
  const areMeant = and(eq(sessions.tenantId, tenantId), inArray(sessions.sid, [...sids]))
  await queries.delete(sessions).where(areMeant)
}
