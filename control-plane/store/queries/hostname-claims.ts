import { and, asc, eq, inArray, lte, sql } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { allBy, deleteBefore, deleteBy, insertInto } from '../statements.ts'

const { hostnameClaims: claims, tenantHostnames } = schema

export type HostnameClaim = typeof claims.$inferSelect

export const hostnameClaimsOf = allBy(claims, ['tenantId'], asc(claims.hostname))
export const insertHostnameClaim = insertInto(claims)
export const deleteHostnameClaim = deleteBy(claims, 'tenantId', 'hostname', 'token')
export const deleteHostnameClaimsBefore = deleteBefore(claims.createdAt)

/** Whoever else wanted them has to ask anew, and to show anew that they are theirs. */
export async function deleteClaimsOfHostnames(queries: Queries, hostnames: readonly string[]) {
  await queries.delete(claims).where(inArray(claims.hostname, [...hostnames]))
}

/** Whom a hostname is served for, or would be. */
export async function ownerOfHostname(queries: Queries, hostname: string) {
  const [row] = await queries
    .select({ tenantId: tenantHostnames.tenantId })
    .from(tenantHostnames)
    .where(eq(tenantHostnames.hostname, hostname))
  return row?.tenantId
}

export async function dueHostnameClaims(queries: Queries, nowMs: number, limit: number) {
  return await queries
    .select()
    .from(claims)
    .where(lte(claims.dueAt, nowMs))
    .orderBy(asc(claims.dueAt), asc(claims.hostname))
    .limit(limit)
}

/** false: somebody else looks, or there is nothing to look for any more. */
export async function beginHostnameLook(
  queries: Queries,
  { tenantId, hostname, looks }: HostnameClaim,
  { lookedAt, dueAt }: Pick<HostnameClaim, 'dueAt'> & { readonly lookedAt: number },
): Promise<boolean> {
  const rows = await queries
    .update(claims)
    .set({ looks: looks + 1, lookedAt, dueAt })
    .where(
      and(eq(claims.tenantId, tenantId), eq(claims.hostname, hostname), eq(claims.looks, looks)),
    )
    .returning({ one: sql`1` })
  return rows.length > 0
}
