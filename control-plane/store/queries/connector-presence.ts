import { and, eq, gte, inArray, lt } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { allBy, deleteBy, deleteSome, upsertInto } from '../statements.ts'

const table = schema.connectorPresence
export type PresenceRow = typeof table.$inferSelect

/** Of a gateway, and not of a tenant there: who tells of it, and since when it was told anew. */
export const OF_GATEWAY = ''

export const upsertPresence = upsertInto(table, ['gatewayId', 'tenantId'], 'content', 'at')
export const presenceOfGateway = allBy(table, ['gatewayId'])
export const deletePresenceOf = deleteBy(table, 'gatewayId')

export async function presenceSince(queries: Queries, fromMs: number): Promise<PresenceRow[]> {
  return queries.select().from(table).where(gte(table.at, fromMs))
}

/** All of gateways that nobody has told of since. */
export async function deletePresenceBefore(queries: Queries, beforeMs: number, limit: number) {
  const old = queries
    .select({ gatewayId: table.gatewayId })
    .from(table)
    .where(and(eq(table.tenantId, OF_GATEWAY), lt(table.at, beforeMs)))
  return deleteSome(queries, table, inArray(table.gatewayId, old), limit)
}
