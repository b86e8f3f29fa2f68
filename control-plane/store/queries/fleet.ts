/** What the fleet asks of the store: who changed since, and who is gone. */
import { and, asc, eq, exists, gt, inArray, sql } from '../drizzle.ts'
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
