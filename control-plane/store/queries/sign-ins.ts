import { LIMITS } from '../../../shared/limits.ts'
import { and, asc, desc, eq, gt, gte, inArray, isNotNull, or } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteBy } from '../statements.ts'

const table = schema.signIns
export type SignInRow = typeof table.$inferSelect

/** From `sinceMs` on in the order of time, behind the one that the page before ended with. */
export async function signInsSince(
  queries: Queries,
  tenantId: string,
  sinceMs: number,
  behind: { readonly at: number; readonly signInId: string } | undefined,
  limit: number,
): Promise<SignInRow[]> {
  const isLater =
    behind &&
    or(gt(table.at, behind.at), and(eq(table.at, behind.at), gt(table.signInId, behind.signInId)))
  return await queries
    .select()
    .from(table)
    .where(and(eq(table.tenantId, tenantId), gte(table.at, sinceMs), isLater))
    .orderBy(asc(table.at), asc(table.signInId))
    .limit(limit)
}

const isOf = (tenantId: string, userId: string) =>
  and(eq(table.tenantId, tenantId), eq(table.userId, userId))

export async function newestSignInOf(queries: Queries, tenantId: string, userId: string) {
  const [newest] = await newestSignInsOf(queries, tenantId, userId, 1)
  return newest
}

const OUTCOMES = ['signed_in', 'asking', 'refused'] as const satisfies SignInRow['outcome'][]

/** Each outcome along the index, which is sorted by time within one. */
export async function newestSignInsOf(
  queries: Queries,
  tenantId: string,
  userId: string,
  limit: number,
) {
  const { signInId, at, ip, userAgent, outcome, reason, repeated } = table
  const ofEach = OUTCOMES.map((one) =>
    queries
      .select({ signInId, at, ip, userAgent, outcome, reason, repeated })
      .from(table)
      .where(and(isOf(tenantId, userId), eq(outcome, one)))
      .orderBy(desc(at))
      .limit(limit),
  )
  const rows = (await Promise.all(ofEach)).flat()
  return rows.sort((a, b) => b.at - a.at).slice(0, limit)
}

export async function lastSignInOf(queries: Queries, tenantId: string, userId: string) {
  const { at, ip, userAgent } = table
  const [row] = await queries
    .select({ at, ip, userAgent })
    .from(table)
    .where(and(isOf(tenantId, userId), eq(table.outcome, 'signed_in')))
    .orderBy(desc(at))
    .limit(1)
  return row
}

export const deleteSignInsOf = deleteBy(table, 'tenantId', 'userId')

/** The newest that a policy has refused. */
export async function newestRefusedSignIns(queries: Queries, tenantId: string, limit: number) {
  const { at, userId, ip, reason, repeated } = table
  return await queries
    .select({ at, userId, ip, reason, repeated })
    .from(table)
    .where(and(eq(table.tenantId, tenantId), eq(table.outcome, 'refused')))
    .orderBy(desc(at))
    .limit(limit)
}

/** The newest with a wrong password or code, among the newest that have not come to an end. */
export async function newestFailedSignIns(queries: Queries, tenantId: string, limit: number) {
  const { at, userId, ip, reason, isFailure } = table
  const unended = queries
    .select({ at, userId, ip, reason, isFailure })
    .from(table)
    .where(and(eq(table.tenantId, tenantId), eq(table.outcome, 'asking')))
    .orderBy(desc(at))
    .limit(LIMITS.failuresReadMax)
    .as('unended')
  return await queries
    .select({ at: unended.at, userId: unended.userId, ip: unended.ip, reason: unended.reason })
    .from(unended)
    .where(eq(unended.isFailure, true))
    .orderBy(desc(unended.at))
    .limit(limit)
}

/** Who has failed since then: some people, or of all the newest `most`. */
export async function failedLately(
  queries: Queries,
  tenantId: string,
  sinceMs: number,
  among: readonly string[] | undefined,
  most: number,
): Promise<string[]> {
  const isFailed = and(eq(table.isFailure, true), eq(table.outcome, 'asking'))
  const isLate = and(eq(table.tenantId, tenantId), isFailed, gte(table.at, sinceMs))
  if (among !== undefined) {
    if (among.length === 0) return []
    const rows = await queries
      .selectDistinct({ userId: table.userId })
      .from(table)
      .where(and(isLate, inArray(table.userId, [...among])))
    return rows.flatMap(({ userId }) => userId ?? [])
  }
  const rows = await queries
    .select({ userId: table.userId })
    .from(table)
    .where(and(isLate, isNotNull(table.userId)))
    .orderBy(desc(table.at))
    .limit(LIMITS.failuresReadMax)
  return [...new Set(rows.flatMap(({ userId }) => userId ?? []))].slice(0, most)
}
