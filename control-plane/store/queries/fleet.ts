/** What the fleet asks of the store: who changed since, and who is gone. */
import { and, asc, count, eq, exists, gt, inArray, lte, ne, sql } from '../drizzle.ts'
import { CONSOLE_REALM } from '../reserved.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'

/** In the order of revisions; costs what changed, not what there is. */
export async function changedTenantsAfter(queries: Queries, revision: number, limit: number) {
  const { tenants, tenantTombstones: gone } = schema
  const changed = await queries
    .select({ tenantId: tenants.tenantId, revision: tenants.revision })
    .from(tenants)
    .where(gt(tenants.revision, revision))
    .orderBy(asc(tenants.revision), asc(tenants.tenantId))
    .limit(limit)
  const removed = await queries
    .select({ tenantId: gone.tenantId, revision: gone.revision })
    .from(gone)
    .where(gt(gone.revision, revision))
    .orderBy(asc(gone.revision), asc(gone.tenantId))
    .limit(limit)
  return [
    ...changed.map((row) => ({ ...row, isGone: false })),
    ...removed.map((row) => ({ ...row, isGone: true })),
  ]
    .sort((a, b) => a.revision - b.revision)
    .slice(0, limit)
}

/** Which tenants there are, by their ids, with what gateways are told of all of them. */
export async function entriesAfter(queries: Queries, after: string, limit: number) {
  const { tenants, tenantHostnames: names } = schema
  const { tenantId, revision, mode, status } = tenants
  const rows = await queries
    .select({ tenantId, revision, mode, status })
    .from(tenants)
    .where(and(gt(tenantId, after), ne(tenantId, CONSOLE_REALM)))
    .orderBy(asc(tenantId))
    .limit(limit)
  const last = rows.at(-1)
  if (last === undefined) return []
  const own = await queries
    .select({ tenantId: names.tenantId, hostname: names.hostname })
    .from(names)
    .where(and(gt(names.tenantId, after), lte(names.tenantId, last.tenantId)))
    .orderBy(asc(names.position))
  const byTenant = Map.groupBy(own, (row) => row.tenantId)
  return rows.map((row) => ({
    ...row,
    hostnames: (byTenant.get(row.tenantId) ?? []).map(({ hostname }) => hostname),
  }))
}

/** Of published tenants that gateways serve. */
export async function countOfServed(queries: Queries): Promise<number> {
  const { mode, status } = schema.tenants
  const [row] = await queries
    .select({ count: count() })
    .from(schema.tenants)
    .where(and(ne(mode, 'sdk'), ne(status, 'draft')))
  return row?.count ?? 0
}

/** The revision at which the tenant was removed. */
export async function findTombstone(queries: Queries, tenantId: string) {
  const [row] = await queries
    .select({ revision: schema.tenantTombstones.revision })
    .from(schema.tenantTombstones)
    .where(eq(schema.tenantTombstones.tenantId, tenantId))
  return row?.revision
}

export interface TenantVersion {
  readonly tenantId: string
  readonly revision: number
  readonly clientSecretSealed: string
  readonly previousSecretSealed: string | null
  readonly previousSecretUntil: number | null
}

export async function versionsOf(queries: Queries, tenantIds: readonly string[]) {
  const { tenantId, revision, clientSecretSealed, previousSecretSealed, previousSecretUntil } =
    schema.tenants
  const rows = await queries
    .select({ tenantId, revision, clientSecretSealed, previousSecretSealed, previousSecretUntil })
    .from(schema.tenants)
    .where(inArray(tenantId, [...tenantIds]))
  return new Map(rows.map((row) => [row.tenantId, row]))
}

export async function tenantsWithRevocationsAfter(queries: Queries, after: string, limit: number) {
  const { tenants, revocations } = schema
  const any = queries
    .select({ one: sql`1` })
    .from(revocations)
    .where(eq(revocations.tenantId, tenants.tenantId))
  const rows = await queries
    .select({ tenantId: tenants.tenantId })
    .from(tenants)
    .where(and(gt(tenants.tenantId, after), exists(any)))
    .orderBy(asc(tenants.tenantId))
    .limit(limit)
  return rows.map((row) => row.tenantId)
}
