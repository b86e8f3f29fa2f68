/** Keys of gateways, found by hash. */
import { asc, eq } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteBy, findBy, insertInto, updateBy } from '../statements.ts'

const { gatewayKeys: table } = schema

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
