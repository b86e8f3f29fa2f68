import {
  and,
  asc,
  count,
  desc,
  eq,
  gt,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  max,
  ne,
  or,
  sql,
  type Placeholder,
  type SQL,
} from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import {
  deleteBefore,
  deleteBy,
  findBy,
  firstBy,
  insertingInto,
  preparedBy,
} from '../statements.ts'

export type SessionRow = typeof schema.sessions.$inferSelect

/** Whose sessions: everyone's, one person's, or one of them. */
export type SessionTarget =
  | { readonly all: true }
  | { readonly subject: string }
  | { readonly sid: string }
export type SessionTargetOfPerson = Exclude<SessionTarget, { readonly all: true }>

/** Or some of the tenant’s, which were read in the same change. */
export type SessionTargets = SessionTargetOfPerson | { readonly sids: readonly string[] }

const table = schema.sessions

/** Which of a tenant's. */
export function sessionsMeant(target: SessionTargets): SQL {
  if ('sids' in target) return inArray(table.sid, [...target.sids])
  return 'sid' in target ? eq(table.sid, target.sid) : eq(table.userId, target.subject)
}

export const findSession = findBy(table, 'tenantId', 'sid')

/** By sid; without those that there are not. */
export async function usersOfSessions(
  queries: Queries,
  tenantId: string,
  sids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (sids.length === 0) return new Map()
  // by their keys alone: asked for the tenant as well, the planner would read all of its sessions
  const rows = await queries
    .select({ sid: table.sid, userId: table.userId, tenantId: table.tenantId })
    .from(table)
    .where(inArray(table.sid, sids))
  const own = rows.filter((row) => row.tenantId === tenantId)
  return new Map(own.map(({ sid, userId }) => [sid, userId]))
}

const firstSessionsOf = firstBy(table, ['tenantId', 'userId'])

export async function hasSessionOf(queries: Queries, tenantId: string, userId: string) {
  return (await firstSessionsOf(queries, tenantId, userId, 1)).length > 0
}

/** One that began since then, and had to end; making room for another one is no such end. */
export async function hasEndedSince(
  queries: Queries,
  tenantId: string,
  userId: string,
  sinceMs: number,
): Promise<boolean> {
  const isOwn = and(eq(table.tenantId, tenantId), eq(table.userId, userId))
  const hasEnded = and(isNotNull(table.endedAt), ne(table.endReason, 'surplus'))
  const rows = await queries
    .select({ sid: table.sid })
    .from(table)
    .where(and(isOwn, gte(table.createdAt, sinceMs), hasEnded))
    .limit(1)
  return rows.length > 0
}

/** A renewed token moves the times on; whose session it is, and that it has ended, stay. */
export const upsertSession = insertingInto(table, {
  target: table.sid,
  set: {
    issuedAt: sql`excluded.issued_at`,
    expiresAt: sql`excluded.expires_at`,
    lastSeenAt: sql`excluded.last_seen_at`,
  },
  setWhere: sql`${table.tenantId} = excluded.tenant_id and ${table.userId} = excluded.user_id`,
})

/** Newest first. */
export async function sessionsBefore(
  queries: Queries,
  tenantId: string,
  before: { readonly createdAt: number; readonly sid: string } | undefined,
  limit: number,
): Promise<SessionRow[]> {
  const isEarlier =
    before &&
    or(
      lt(table.createdAt, before.createdAt),
      and(eq(table.createdAt, before.createdAt), lt(table.sid, before.sid)),
    )
  return await queries
    .select()
    .from(table)
    .where(and(eq(table.tenantId, tenantId), isEarlier))
    .orderBy(desc(table.createdAt), desc(table.sid))
    .limit(limit)
}

const { revocations } = schema

/** At once, or when a prepared statement is carried out. */
type Asked<Value> = Value | Placeholder

/**
 * Neither over nor issued before all sessions of the tenant were ended: that counts from the moment
 * it is decided, and is written down of each session only later.
 */
export const isAliveIn = (tenantId: Asked<string>, nowMs: Asked<number>) =>
  and(
    eq(table.tenantId, tenantId),
    isNull(table.endedAt),
    gt(table.expiresAt, nowMs),
    sql`${table.issuedAt} >= coalesce((select ${revocations.notBefore} * 1000 from ${revocations}
      where ${revocations.tenantId} = ${tenantId} and ${revocations.kind} = 'all'
        and ${revocations.target} = ''), 0)`,
  )

const isAliveOf = (tenantId: Asked<string>, userId: Asked<string>, nowMs: Asked<number>) =>
  and(isAliveIn(tenantId, nowMs), eq(table.userId, userId))

/** How many a revocation of this person, or of all, would end; no further than `most`. */
export async function countAlive(
  queries: Queries,
  tenantId: string,
  userId: string | undefined,
  nowMs: number,
  most: number,
): Promise<number> {
  const rows = await queries
    .select({ sid: table.sid })
    .from(table)
    .where(userId === undefined ? isAliveIn(tenantId, nowMs) : isAliveOf(tenantId, userId, nowMs))
    .limit(most)
  return rows.length
}

/** What a person is shown: the one that was used last comes first. */
export async function aliveSessionsOf(
  queries: Queries,
  tenantId: string,
  userId: string,
  nowMs: number,
  limit: number,
): Promise<SessionRow[]> {
  return await queries
    .select()
    .from(table)
    .where(isAliveOf(tenantId, userId, nowMs))
    .orderBy(desc(table.lastSeenAt), desc(table.sid))
    .limit(limit)
}

/** The sessions of a person that are alive, the oldest first. */
export async function aliveSids(
  queries: Queries,
  tenantId: string,
  userId: string,
  nowMs: number,
  most = Number.MAX_SAFE_INTEGER,
): Promise<string[]> {
  const rows = await findAlive(queries, { tenantId, userId, nowMs, most })
  return rows.map(({ sid }) => sid)
}

const [tenant, person, now] = ['tenantId', 'userId', 'nowMs'].map((name) =>
  sql.placeholder(name),
) as [Placeholder, Placeholder, Placeholder]
const findAlive = preparedBy((queries) =>
  queries
    .select({ sid: table.sid })
    .from(table)
    .where(isAliveOf(tenant, person, now))
    .orderBy(asc(table.createdAt), asc(table.sid))
    .limit(sql.placeholder('most')),
)

/** Those that were begun on one of these enrolled devices. */
export async function aliveOnDevices(
  queries: Queries,
  tenantId: string,
  deviceIds: readonly string[],
  nowMs: number,
) {
  if (deviceIds.length === 0) return []
  const areOn = and(isNotNull(table.deviceId), inArray(table.deviceId, [...deviceIds]))
  return await queries
    .select({ sid: table.sid, userId: table.userId, deviceId: table.deviceId })
    .from(table)
    .where(and(isAliveIn(tenantId, nowMs), areOn))
}

/** On which somebody is signed in, in the order of their ids. */
export async function devicesInUse(
  queries: Queries,
  tenantId: string,
  after: string,
  nowMs: number,
  limit: number,
): Promise<string[]> {
  const isOpen = and(isNull(table.endedAt), gt(table.expiresAt, nowMs))
  const areNext = and(isNotNull(table.deviceId), gt(table.deviceId, after))
  const rows = await queries
    .selectDistinct({ deviceId: table.deviceId })
    .from(table)
    .where(and(eq(table.tenantId, tenantId), isOpen, areNext))
    .orderBy(table.deviceId)
    .limit(limit)
  return rows.flatMap(({ deviceId }) => deviceId ?? [])
}

/** Of a whole tenant: how many there are, and when the last of them expires. */
export async function aliveOfTenant(queries: Queries, tenantId: string, nowMs: number) {
  const [row] = await queries
    .select({ count: count(), expiresAt: max(table.expiresAt) })
    .from(table)
    .where(isAliveIn(tenantId, nowMs))
  return { count: row?.count ?? 0, expiresAt: row?.expiresAt ?? 0 }
}

/** Of those that nothing has been written of yet, some whose token is from before. */
export async function unendedIssuedBefore(
  queries: Queries,
  tenantId: string,
  { issuedMs, nowMs }: { readonly issuedMs: number; readonly nowMs: number },
  limit: number,
): Promise<string[]> {
  const isAlive = and(isNull(table.endedAt), gt(table.expiresAt, nowMs))
  const rows = await queries
    .select({ sid: table.sid })
    .from(table)
    .where(and(eq(table.tenantId, tenantId), isAlive, lt(table.issuedAt, issuedMs)))
    .limit(limit)
  return rows.map(({ sid }) => sid)
}

/** Alive, and their tokens are from then or later: by a clock that was ahead. */
export async function aliveIssuedFrom(
  queries: Queries,
  tenantId: string,
  { issuedMs, nowMs }: { readonly issuedMs: number; readonly nowMs: number },
) {
  return await queries
    .select({ sid: table.sid, userId: table.userId })
    .from(table)
    .where(and(isAliveIn(tenantId, nowMs), gte(table.issuedAt, issuedMs)))
}

export type EndedSession = Pick<SessionRow, 'sid' | 'issuedAt' | 'expiresAt'>

/** Those that were alive. */
export async function endSessions(
  queries: Queries,
  tenantId: string,
  target: SessionTargetOfPerson,
  ended: { readonly atMs: number; readonly reason: string },
): Promise<readonly EndedSession[]> {
  return await endMeant(queries, and(eq(table.tenantId, tenantId), sessionsMeant(target)), ended)
}

/** Those of a tenant that were read in the same change, by sid. */
export async function endKnownSessions(
  queries: Queries,
  sids: readonly string[],
  ended: { readonly atMs: number; readonly reason: string },
): Promise<ReadonlyMap<string, EndedSession>> {
  // by their keys alone: asked for the tenant as well, the planner would read all of its sessions
  const rows = await endMeant(queries, sessionsMeant({ sids }), ended)
  return new Map(rows.map((row) => [row.sid, row]))
}

async function endMeant(
  queries: Queries,
  areMeant: SQL | undefined,
  { atMs, reason }: { readonly atMs: number; readonly reason: string },
) {
  const isAlive = and(isNull(table.endedAt), gt(table.expiresAt, atMs))
  return await queries
    .update(table)
    .set({ endedAt: atMs, endReason: reason })
    .where(and(areMeant, isAlive))
    .returning({ sid: table.sid, issuedAt: table.issuedAt, expiresAt: table.expiresAt })
}

export async function markSeen(
  queries: Queries,
  seen: { readonly tenantId: string; readonly sid: string; readonly atMs: number },
): Promise<void> {
  await queries
    .update(table)
    .set({ lastSeenAt: seen.atMs })
    .where(
      and(
        eq(table.tenantId, seen.tenantId),
        eq(table.sid, seen.sid),
        lt(table.lastSeenAt, seen.atMs),
      ),
    )
}

export const deleteSessionsExpiredBefore = deleteBefore(table.expiresAt)

/** How many sessions so many people have alive, from one id on; also of those who have none. */
export async function aliveCountsAfter(
  queries: Queries,
  tenantId: string,
  afterUserId: string,
  nowMs: number,
  limit: number,
) {
  const isOfThem = and(eq(table.tenantId, tenantId), gt(table.userId, afterUserId))
  const alive = sql<number>`count(case when ${isAliveIn(tenantId, nowMs)} then 1 end)`
  return await queries
    .select({ userId: table.userId, alive })
    .from(table)
    .where(and(isOfThem, isNull(table.endedAt))) // what it walks along
    .groupBy(table.userId)
    .orderBy(asc(table.userId))
    .limit(limit)
}

export const deleteSessionsOf = deleteBy(table, 'tenantId', 'userId')
