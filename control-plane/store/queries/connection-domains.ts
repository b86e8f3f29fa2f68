import { and, asc, eq, lte, sql } from '../drizzle.ts'
import type { Queries } from '../engine.ts'
import { schema } from '../schema.ts'
import { allBy, deleteBy, findBy, insertInto } from '../statements.ts'

const { connectionDomains: domains } = schema

export type DomainRow = typeof domains.$inferSelect

export const insertDomain = insertInto(domains)
export const findDomain = findBy(domains, 'tenantId', 'domain')
export const domainsOf = allBy(domains, ['tenantId'], asc(domains.domain))
export const deleteDomain = deleteBy(domains, 'tenantId', 'domain', 'token')

/** By which connection people with such an address come in, where that is proven. */
export async function connectionOfDomain(queries: Queries, tenantId: string, domain: string) {
  const row = await findDomain(queries, tenantId, domain)
  return row?.provenAt == null ? undefined : row.connectionId
}

export async function dueDomains(queries: Queries, nowMs: number, limit: number) {
  return await queries
    .select()
    .from(domains)
    .where(lte(domains.dueAt, nowMs))
    .orderBy(asc(domains.dueAt), asc(domains.domain))
    .limit(limit)
}

/** false: somebody else has looked, or it is gone. */
export async function advanceDomain(
  queries: Queries,
  { tenantId, domain, token, turn }: DomainRow,
  changes: Partial<Omit<DomainRow, 'tenantId' | 'domain' | 'token' | 'turn'>>,
): Promise<boolean> {
  const isAsRead = and(
    eq(domains.tenantId, tenantId),
    eq(domains.domain, domain),
    eq(domains.token, token),
    eq(domains.turn, turn),
  )
  const rows = await queries
    .update(domains)
    .set({ ...changes, turn: turn + 1 })
    .where(isAsRead)
    .returning({ one: sql`1` })
  return rows.length > 0
}

/** Whose record is gone: they are used still, or not any more until it is back. */
export async function countUnprovenDomains(
  queries: Queries,
): Promise<{ readonly missing: number; readonly lapsed: number }> {
  const isLapsed = sql`${domains.provenAt} is null and ${domains.misses} > 0`
  const [row] = await queries
    .select({
      missing: sql<number>`count(${domains.missingSince})`,
      lapsed: sql<number>`count(case when ${isLapsed} then 1 end)`,
    })
    .from(domains)
  return { missing: Number(row?.missing ?? 0), lapsed: Number(row?.lapsed ?? 0) }
}
