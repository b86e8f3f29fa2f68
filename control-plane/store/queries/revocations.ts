import {
  and,
  asc,
  eq,
  gt,
  inArray,
  isNull,
  lt,
  max,
  ne,
  or,
  sql,
  type Placeholder,
  type SQL,
} from '../drizzle.ts'
import { SECOND_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import {
  allBy,
  deleteBefore,
  deleteBy,
  deleteSome,
  findBy,
  inParts,
  preparedBy,
} from '../statements.ts'
import type { SessionTargets } from './sessions.ts'

/** People asked for by one statement. */
const PEOPLE_TOGETHER_MAX = 500

const table = schema.revocations
export type RevocationRow = typeof table.$inferSelect
type NewRevocation = typeof table.$inferInsert

type Asked<Value> = Value | Placeholder

const isKey = (tenantId: Asked<string>, kind: RevocationRow['kind'], target: Asked<string>) =>
  and(eq(table.tenantId, tenantId), eq(table.kind, kind), eq(table.target, target))

/** The later not-before wins, and what was ended before is not forgotten. */
export async function upsertRevocations(
  queries: Queries,
  rows: readonly NewRevocation[],
): Promise<void> {
  const isLonger = sql`${table.keptUntil} < excluded.kept_until`
  await queries
    .insert(table)
    .values([...rows])
    .onConflictDoUpdate({
      target: [table.tenantId, table.kind, table.target],
      set: {
        notBefore: sql`excluded.not_before`,
        createdAt: sql`excluded.created_at`,
        keptUntil: sql`case when ${isLonger} then excluded.kept_until else ${table.keptUntil} end`,
      },
      setWhere: sql`${table.notBefore} < excluded.not_before`,
    })
}

/** When the last of each person's sessions expires, however long those may be by now. */
export async function lastExpiriesOf(
  queries: Queries,
  tenantId: string,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { sessions } = schema
  const expiries = new Map<string, number>()
  for await (const some of inParts(userIds, PEOPLE_TOGETHER_MAX)) {
    const areTheirs = and(eq(sessions.tenantId, tenantId), inArray(sessions.userId, some))
    const rows = await queries
      .select({ userId: sessions.userId, expiresAt: max(sessions.expiresAt) })
      .from(sessions)
      .where(and(areTheirs, isNull(sessions.endedAt)))
      .groupBy(sessions.userId)
    for (const { userId, expiresAt } of rows) expiries.set(userId, expiresAt ?? 0)
  }
  return expiries
}

export const revocationsOf = allBy(table, ['tenantId'])

/** 0 when nothing is revoked that could concern the person, or this session of theirs. */
export async function notBeforeOf(
  queries: Queries,
  tenantId: string,
  subject: string,
  sid?: string,
): Promise<number> {
  const latest = sid === undefined ? latestOfPerson : latestOfSession
  const [row] = await latest(queries, { tenantId, subject, sid })
  return row?.notBefore ?? 0
}

/** Before this second nothing may be issued that says in which groups the person is. */
export async function claimsNotBeforeOf(
  queries: Queries,
  tenantId: string,
  userId: string,
): Promise<number> {
  return (await find(queries, tenantId, 'claims', userId))?.notBefore ?? 0
}

const find = findBy(table, 'tenantId', 'kind', 'target')

const [tenant, person, session] = ['tenantId', 'subject', 'sid'].map((name) =>
  sql.placeholder(name),
) as [Placeholder, Placeholder, Placeholder]
// each of them by its whole key: of the tenant alone, all of its revocations would be read
const ofPerson = [isKey(tenant, 'all', ''), isKey(tenant, 'subject', person)]
const latestOfPerson = latestOf(...ofPerson)
const latestOfSession = latestOf(...ofPerson, isKey(tenant, 'sid', session))

function latestOf(...concerning: (SQL | undefined)[]) {
  return preparedBy((queries) =>
    queries
      .select({ notBefore: max(table.notBefore) })
      .from(table)
      .where(or(...concerning)),
  )
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
    .where(isKey(tenantId, 'sid', sid))
  return rows.some(({ notBefore }) => notBefore >= notBeforeMin)
}

/**
 * What the realm keeps for these sessions: no code or provider session makes a new token. A sign-in
 * page that somebody is looking at stays: what follows from it is judged by its own time. Beyond so
 * many (`deleteSurplusOfAccount` holds a person to fewer) what is left is dead by its time as well,
 * and expires.
 */
export async function deleteRealmRecords(
  queries: Queries,
  tenantId: string,
  target: SessionTargets,
): Promise<void> {
  const { tenantId: ofTenant, model } = records
  const isSession = and(eq(ofTenant, tenantId), recordsMeant(target), ne(model, 'Interaction'))
  const most = LIMITS.realmRecordsEndedAtOnceMax
  let gone: number
  do gone = await deleteSome(queries, records, isSession, most)
  while ('sids' in target && gone === most)
}

const records = schema.realmRecords

function recordsMeant(target: SessionTargets): SQL {
  if ('sids' in target) return inArray(records.sid, [...target.sids])
  return 'sid' in target ? eq(records.sid, target.sid) : eq(records.accountId, target.subject)
}

/**
 * Where all sessions have been ended, and some of them may not have expired yet: a look at each
 * tenant, since of the revocations of sessions and people there may be very many.
 */
export async function endingsOfAll(queries: Queries, nowMs: number) {
  const { tenants } = schema
  const isOfAll = and(
    eq(table.tenantId, tenants.tenantId),
    eq(table.kind, 'all'),
    eq(table.target, ''),
  )
  return await queries
    .select({ tenantId: table.tenantId, notBefore: table.notBefore })
    .from(tenants)
    .crossJoin(table) // which SQLite reads in this order
    .where(and(isOfAll, gt(table.keptUntil, nowMs)))
}

const deleteOfAccount = deleteBy(schema.realmRecords, 'tenantId', 'accountId', 'model')

/** The sign-in pages that somebody is known to look at who is no more. */
export async function deleteInteractionsOf(queries: Queries, tenantId: string, userId: string) {
  await deleteOfAccount(queries, tenantId, userId, 'Interaction')
}

/**
 * Entries that no token can run into any more: older than the tenant's longest session, and the
 * sessions that they have ended are over (one may have been issued while sessions lasted longer).
 * Answers how many were looked at; one that is still needed is not looked at again before it is due.
 */
export async function deleteMootRevocations(queries: Queries, nowMs: number, limit: number) {
  const { tenants } = schema
  const { tenantId, kind, target, notBefore } = table
  const rows = await queries
    .select({ tenantId, kind, target, notBefore, longest: tenants.maxSessionSeconds })
    .from(table)
    .leftJoin(tenants, eq(tenants.tenantId, tenantId))
    .where(lt(table.keptUntil, nowMs))
    .orderBy(asc(table.keptUntil))
    .limit(limit)
  for (const row of rows) {
    const dueMs = (row.notBefore + (row.longest ?? 0)) * SECOND_MS
    const isRow = isKey(row.tenantId, row.kind, row.target)
    if (dueMs < nowMs) await queries.delete(table).where(isRow)
    else await queries.update(table).set({ keptUntil: dueMs }).where(isRow)
  }
  return rows.length
}

export const deleteRealmRecordsExpiredBefore = deleteBefore(schema.realmRecords.expiresAt)
