/** Keys of gateways, found by hash; and which gateways have none. */
import { asc, desc, eq, gt } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteBefore, deleteBy, findBy, insertInto, updateBy, upsertInto } from '../statements.ts'

const { gatewayKeys: table, keylessGateways: keyless } = schema

export type GatewayKeyRow = typeof table.$inferSelect

export const findGatewayKey = findBy(table, 'keyHash')

/** Of one gateway, or of all; the oldest first. */
export async function gatewayKeysOf(queries: Queries, gatewayId?: string) {
  return await queries
    .select()
    .from(table)
    .where(gatewayId === undefined ? undefined : eq(table.gatewayId, gatewayId))
    .orderBy(asc(table.gatewayId), asc(table.createdAt), asc(table.keyId))
}

export const insertGatewayKey = insertInto(table)

export const deleteGatewayKey = deleteBy(table, 'keyId')

/** False: it has been revoked. */
export const updateGatewayKey = updateBy(table, 'keyId')

export const upsertKeylessGateways = upsertInto(keyless, ['gatewayId'], 'seenAt')
/** False: there was none. */
export const deleteKeylessGateway = deleteBy(keyless, 'gatewayId')
export const deleteKeylessGatewaysBefore = deleteBefore(keyless.seenAt)

/** Where there are more, those that were here last. */
export async function keylessGatewaysSince(queries: Queries, sinceMs: number, limit: number) {
  const rows = await queries
    .select({ gatewayId: keyless.gatewayId })
    .from(keyless)
    .where(gt(keyless.seenAt, sinceMs))
    .orderBy(desc(keyless.seenAt), asc(keyless.gatewayId))
    .limit(limit)
  return rows.map(({ gatewayId }) => gatewayId)
}
