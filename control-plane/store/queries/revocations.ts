import { and, eq, gt, inArray, lt, max, ne, or, sql } from 'drizzle-orm'
import { schema } from '../schema.ts'
import type { Queries } from '../sqlite.ts'
import type { SessionTarget } from './sessions.ts'

export type RevocationRow = typeof schema.revocations.$inferSelect

const table = schema.revocations

/** The later not-before wins. */
export async function upsertRevocation(queries: Queries, row: RevocationRow): Promise<void> {
  await queries
    .insert(table)
    .values(row)
    .onConflictDoUpdate({
      target: [table.tenantId, table.kind, table.target],
      set: { notBefore: row.notBefore, createdAt: row.createdAt },
      setWhere: lt(table.notBefore, row.notBefore),
    })
}

export async function revocationsOf(queries: Queries, tenantId: string): Promise<RevocationRow[]> {
  return await queries.select().from(table).where(eq(table.tenantId, tenantId))
}

/** 0 when nothing is revoked that could concern the person, or this session of theirs. */
export async function notBeforeOf(
  queries: Queries,
  tenantId: string,
  subject: string,
  sid?: string,
): Promise<number> {
  const isKey = (kind: RevocationRow['kind'], target: string) =>
    and(eq(table.tenantId, tenantId), eq(table.kind, kind), eq(table.target, target))
  // each of them by its whole key: of the tenant alone, all of its revocations would be read
  const concerns = or(
    isKey('all', ''),
    isKey('subject', subject),
    sid === undefined ? undefined : isKey('sid', sid),
  )
  const [row] = await queries
    .select({ notBefore: max(table.notBefore) })
    .from(table)
    .where(concerns)
  return row?.notBefore ?? 0
}

export async function isSidRevoked(
  queries: Queries,
  tenantId: string,
  sid: string,
  notBeforeMin = 0,
): Promise<boolean> {
  const rows = await queries
    .select({ notBefore: table.notBefore })
    .from(table)
    .where(and(eq(table.tenantId, tenantId), eq(table.kind, 'sid'), eq(table.target, sid)))
  return rows.some(({ notBefore }) => notBefore >= notBeforeMin)
}

/**
 * What the realm keeps for these sessions: no code or provider session makes a new token. A sign-in
 * page that somebody is looking at stays: what follows from it is judged by its own time.
 */
export async function deleteRealmRecords(
  queries: Queries,
  tenantId: string,
  target: SessionTarget,
): Promise<void> {
  const records = schema.realmRecords
  const areMeant =
    'all' in target
      ? undefined
      : 'sid' in target
        ? eq(records.sid, target.sid)
        : eq(records.accountId, target.subject)
  const isSession = ne(records.model, 'Interaction')
  await queries.delete(records).where(and(eq(records.tenantId, tenantId), isSession, areMeant))
}

/** The sign-in pages that somebody is known to look at who is no more. */
export async function deleteInteractionsOf(
  queries: Queries,
  tenantId: string,
  userId: string,
): Promise<void> {
  const records = schema.realmRecords
  const areMeant = [eq(records.tenantId, tenantId), eq(records.accountId, userId)]
  await queries.delete(records).where(and(...areMeant, eq(records.model, 'Interaction')))
}

/**
 * Entries that no token can run into any more: older than the tenant's longest session, and no
 * session from before them is unexpired (one may have been issued while sessions lasted longer).
 */
export async function deleteMootRevocations(
  queries: Queries,
  nowMs: number,
  limit: number,
): Promise<number> {
  const { tenants, sessions } = schema
  const oldest = queries
    .select({ one: sql`1` })
    .from(sessions)
    .where(
      and(
        eq(sessions.tenantId, table.tenantId),
        gt(sessions.expiresAt, nowMs),
        sql`${sessions.createdAt} < ${table.notBefore} * 1000`,
      ),
    )
  const moot = await queries
    .select({ tenantId: table.tenantId, kind: table.kind, target: table.target })
    .from(table)
    .innerJoin(tenants, eq(tenants.tenantId, table.tenantId))
    .where(
      and(
        sql`(${table.notBefore} + ${tenants.maxSessionSeconds}) * 1000 < ${nowMs}`,
        sql`not exists ${oldest}`,
      ),
    )
    .limit(limit)
  for (const { tenantId, kind, target } of moot)
    await queries
      .delete(table)
      .where(and(eq(table.tenantId, tenantId), eq(table.kind, kind), eq(table.target, target)))
  return moot.length
}

export async function deleteRealmRecordsExpiredBefore(
  queries: Queries,
  beforeMs: number,
  limit: number,
): Promise<number> {
  const records = schema.realmRecords
  const expired = await queries
    .select({ tenantId: records.tenantId, model: records.model, idHash: records.idHash })
    .from(records)
    .where(lt(records.expiresAt, beforeMs))
    .limit(limit)
  for (const [tenantId, ofTenant] of Map.groupBy(expired, (row) => row.tenantId))
    for (const [model, ofModel] of Map.groupBy(ofTenant, (row) => row.model))
      await queries.delete(records).where(
        and(
          eq(records.tenantId, tenantId),
          eq(records.model, model),
          inArray(
            records.idHash,
            ofModel.map((row) => row.idHash),
          ),
        ),
      )
  return expired.length
}
