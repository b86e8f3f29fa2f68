/** How many bytes of a tenant's deliveries are kept, counted with each change of them. */
import { gt, sql } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'

const { webhookKept: table } = schema

/** Of a delivery beside its body and the answers: its row, its attempts and what finds them. */
export const DELIVERY_ROW_BYTES = 1000

interface Piece {
  readonly tenantId: string
  readonly bytes: number
}

/** What comes; what goes, as less than nothing. */
export async function countKept(queries: Queries, pieces: readonly Piece[]): Promise<void> {
  for (const [tenantId, own] of Map.groupBy(pieces, (piece) => piece.tenantId)) {
    const bytes = own.reduce((sum, piece) => sum + piece.bytes, 0)
    if (bytes === 0) continue
    const kept = sql`(${table.bytes} + ${bytes})`
    await queries
      .insert(table)
      .values({ tenantId, bytes: Math.max(0, bytes) })
      .onConflictDoUpdate({
        target: table.tenantId,
        set: { bytes: sql`case when ${kept} > 0 then ${kept} else 0 end` },
      })
  }
}

/** Of whom more is kept than that. */
export async function tenantsKeepingMore(queries: Queries, bytesMax: number): Promise<string[]> {
  const rows = await queries
    .select({ tenantId: table.tenantId })
    .from(table)
    .where(gt(table.bytes, bytesMax))
  return rows.map(({ tenantId }) => tenantId)
}
