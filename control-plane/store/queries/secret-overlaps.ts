/** Client secrets that have been replaced, and still count for a while. */
import { asc, lte } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../sqlite.ts'

export const NO_PREVIOUS_SECRET = {
  previousSecretSealed: null,
  previousSecretHash: null,
  previousSecretUntil: null,
} as const

export async function endedSecretOverlaps(queries: Queries, nowMs: number, limit: number) {
  const { tenantId, previousSecretUntil } = schema.tenants
  const rows = await queries
    .select({ tenantId })
    .from(schema.tenants)
    .where(lte(previousSecretUntil, nowMs))
    .orderBy(asc(previousSecretUntil))
    .limit(limit)
  return rows.map((row) => row.tenantId)
}
