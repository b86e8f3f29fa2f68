import {
  and,
  asc,
  count,
  eq,
  gt,
  inArray,
  isNotNull,
  lte,
  ne,
  notInArray,
  sql,
} from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteBefore, deleteBy, findBy, insertRows, upsertInto } from '../statements.ts'

const { acmeOrders: orders, acmeAuthorities: authorities } = schema

export type AcmeOrder = typeof orders.$inferSelect

export const findAcmeOrder = findBy(orders, 'hostname')

export async function acmeOrdersOf(queries: Queries, tenantIds: readonly string[]) {
  return await queries
    .select()
    .from(orders)
    .where(inArray(orders.tenantId, [...tenantIds]))
    .orderBy(asc(orders.hostname))
}

/** For whom a time has come, the one whose time came first before the others. */
export async function dueAcmeOrders(queries: Queries, nowMs: number, limit: number) {
  return await queries
    .select()
    .from(orders)
    .where(lte(orders.dueAt, nowMs))
    .orderBy(asc(orders.dueAt), asc(orders.hostname))
    .limit(limit)
}

/** When the next time comes. */
export async function nextAcmeOrderAt(queries: Queries): Promise<number | undefined> {
  const [row] = await queries
    .select({ dueAt: orders.dueAt })
    .from(orders)
    .orderBy(asc(orders.dueAt))
    .limit(1)
  return row?.dueAt
}

/** How many hostnames are at each step, and how many of them have failed lately. */
export async function countAcmeOrders(queries: Queries) {
  return await queries
    .select({
      step: orders.step,
      count: count(),
      failing: sql<number>`sum(CASE WHEN ${orders.failures} > 0 THEN 1 ELSE 0 END)`,
    })
    .from(orders)
    .groupBy(orders.step)
}

/** undefined: it is no longer as it was read, so somebody else goes on with it. */
export async function advanceAcmeOrder(
  queries: Queries,
  { hostname, tenantId, turn }: AcmeOrder,
  changes: Partial<Omit<AcmeOrder, 'hostname' | 'tenantId' | 'turn'>>,
): Promise<AcmeOrder | undefined> {
  const isAsRead = and(
    eq(orders.hostname, hostname),
    eq(orders.tenantId, tenantId),
    eq(orders.turn, turn),
  )
  const [row] = await queries
    .update(orders)
    .set({ ...changes, turn: turn + 1 })
    .where(isAsRead)
    .returning()
  return row
}

/** What authorities look for in DNS now. */
export async function acmeDnsValues(queries: Queries, limit: number) {
  return await queries
    .select({ dnsLabel: orders.dnsLabel, dnsValue: orders.dnsValue })
    .from(orders)
    .where(isNotNull(orders.dnsValue))
    .limit(limit)
}

/** Another hostname of this tenant, for which the same is ordered. */
export async function acmeOrdersFor(queries: Queries, row: AcmeOrder, identifier: string) {
  return await queries
    .select()
    .from(orders)
    .where(
      and(
        eq(orders.tenantId, row.tenantId),
        eq(orders.identifier, identifier),
        ne(orders.hostname, row.hostname),
      ),
    )
}

/**
 * Whoever has its certificate looks at it again now: so many, those first that have not looked for
 * longest. Each that finds a newer one wakes the next, so that a wildcard with very many hostnames
 * is given to all of them in changes of a few rows.
 */
export async function wakeAcmeFollowers(
  queries: Queries,
  hostname: string,
  { nowMs, limit }: { nowMs: number; limit: number },
): Promise<void> {
  const asleep = queries
    .select({ hostname: orders.hostname })
    .from(orders)
    .where(and(eq(orders.follows, hostname), eq(orders.step, 'issued'), gt(orders.dueAt, nowMs)))
    .orderBy(asc(orders.dueAt), asc(orders.hostname))
    .limit(limit)
  await queries.update(orders).set({ dueAt: nowMs }).where(inArray(orders.hostname, asleep))
}

/** Those that are there stay as they are. */
export async function insertAcmeOrders(
  queries: Queries,
  rows: readonly (typeof orders.$inferInsert)[],
): Promise<void> {
  await insertRows(queries, orders, rows)
}

/** Whoever is not among these is not ordered for any more. */
export async function keepAcmeOrdersOf(
  queries: Queries,
  tenantId: string,
  hostnames: readonly string[],
): Promise<void> {
  const isGone = hostnames.length === 0 ? undefined : notInArray(orders.hostname, [...hostnames])
  await queries.delete(orders).where(and(eq(orders.tenantId, tenantId), isGone))
}

export const deleteAcmeOrder = deleteBy(orders, 'hostname', 'tenantId')

export async function acmeAuthoritiesOf(queries: Queries, directories: readonly string[]) {
  return await queries
    .select()
    .from(authorities)
    .where(inArray(authorities.directory, [...directories]))
}

/** How many are left alone still, of those whose key begins so. */
export async function countAcmePauses(
  queries: Queries,
  { prefix, except, afterMs }: { prefix: string; except: string; afterMs: number },
): Promise<number> {
  const { directory, pausedUntil } = authorities
  const isNamed = sql`substr(${directory}, 1, ${prefix.length}) = ${prefix}`
  const [row] = await queries
    .select({ count: count() })
    .from(authorities)
    .where(and(isNamed, ne(directory, except), gt(pausedUntil, afterMs)))
  return row?.count ?? 0
}

export const putAcmeAuthority = upsertInto(authorities, ['directory'], 'pausedUntil', 'refusals')

/** It takes orders. */
export const clearAcmeAuthority = deleteBy(authorities, 'directory')

export const deleteAcmePausesBefore = deleteBefore(authorities.pausedUntil)
