/** Keys of gateways, found by hash. */
import { asc, eq } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../sqlite.ts'

const { gatewayKeys: table } = schema

export type GatewayKeyRow = typeof table.$inferSelect

export async function findGatewayKey(queries: Queries, keyHash: string) {
  const [row] = await queries.select().from(table).where(eq(table.keyHash, keyHash))
  return row
}

/** Of one gateway, or of all; the oldest first. */
export async function gatewayKeysOf(queries: Queries, gatewayId?: string) {
  return await queries
    .select()
    .from(table)
    .where(gatewayId === undefined ? undefined : eq(table.gatewayId, gatewayId))
    .orderBy(asc(table.gatewayId), asc(table.createdAt), asc(table.keyId))
}

export async function insertGatewayKey(queries: Queries, row: GatewayKeyRow): Promise<void> {
  await queries.insert(table).values(row)
}

export async function deleteGatewayKey(queries: Queries, keyId: string): Promise<void> {
  await queries.delete(table).where(eq(table.keyId, keyId))
}

/** False: it has been revoked. */
export async function markGatewayKeyUsed(queries: Queries, keyId: string, lastUsedAt: number) {
  const rows = await queries
    .update(table)
    .set({ lastUsedAt })
    .where(eq(table.keyId, keyId))
    .returning({ keyId: table.keyId })
  return rows.length > 0
}
