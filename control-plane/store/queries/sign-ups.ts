import { and, asc, count, eq, gt, isNull, lte, or } from '../drizzle.ts'
import type { Queries } from '../engine.ts'
import { schema } from '../schema.ts'
import { deleteBy, findBy, insertInto, isOneOf } from '../statements.ts'

const { signUps } = schema

export type SignUpRow = typeof signUps.$inferSelect

export const insertSignUp = insertInto(signUps)
export const findSignUp = findBy(signUps, 'tenantId', 'signUpId')
export const findSignUpOf = findBy(signUps, 'tenantId', 'emailKey')
export const deleteSignUp = deleteBy(signUps, 'tenantId', 'signUpId')
export const deleteSignUpOf = deleteBy(signUps, 'tenantId', 'emailKey')

/** Those of a tenant, the oldest first: who has waited longest is looked at first. */
export async function signUpsAfter(
  queries: Queries,
  tenantId: string,
  behind: { readonly createdAt: number; readonly signUpId: string } | undefined,
  limit: number,
): Promise<SignUpRow[]> {
  const isBehind =
    behind &&
    or(
      gt(signUps.createdAt, behind.createdAt),
      and(eq(signUps.createdAt, behind.createdAt), gt(signUps.signUpId, behind.signUpId)),
    )
  return await queries
    .select()
    .from(signUps)
    .where(and(eq(signUps.tenantId, tenantId), isBehind))
    .orderBy(asc(signUps.createdAt), asc(signUps.signUpId))
    .limit(limit)
}

export async function countSignUps(queries: Queries, tenantId: string): Promise<number> {
  const [row] = await queries
    .select({ count: count() })
    .from(signUps)
    .where(eq(signUps.tenantId, tenantId))
  return row?.count ?? 0
}

/** All of a tenant: it has closed its sign-up. */
export async function deleteSignUpsOf(queries: Queries, tenantId: string): Promise<number> {
  const gone = await queries
    .delete(signUps)
    .where(eq(signUps.tenantId, tenantId))
    .returning({ signUpId: signUps.signUpId })
  return gone.length
}

/** So many who have waited for too long. */
export async function deleteSignUpsExpiredBefore(queries: Queries, nowMs: number, limit: number) {
  return await queries
    .delete(signUps)
    .where(isOneOf(queries, signUps, lte(signUps.expiresAt, nowMs), limit))
    .returning({ tenantId: signUps.tenantId, email: signUps.email })
}

/** Tenants of whose waiting people administrators have not been mailed yet. */
export async function tenantsWithUntoldSignUps(queries: Queries, after: string, limit: number) {
  const rows = await queries
    .selectDistinct({ tenantId: signUps.tenantId })
    .from(signUps)
    .where(and(isNull(signUps.toldAt), gt(signUps.tenantId, after)))
    .orderBy(asc(signUps.tenantId))
    .limit(limit)
  return rows.map(({ tenantId }) => tenantId)
}

export async function noteSignUpsTold(queries: Queries, tenantId: string, toldAt: number) {
  await queries
    .update(signUps)
    .set({ toldAt })
    .where(and(eq(signUps.tenantId, tenantId), isNull(signUps.toldAt)))
}
