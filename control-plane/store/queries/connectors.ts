import { and, asc, desc, eq, gt, inArray, ne, sql } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import {
  allBy,
  deleteBefore,
  deleteBy,
  findBy,
  insertInto,
  updateBy,
  upsertInto,
} from '../statements.ts'

const { connectorTokens: tokens, connectors: table, connectorKeys: keys } = schema
const { gatewayDoors: doors } = schema

export type ConnectorTokenRow = typeof tokens.$inferSelect
export type ConnectorRow = typeof table.$inferSelect
export type ConnectorKeyRow = typeof keys.$inferSelect

export const insertConnectorToken = insertInto(tokens)
export const findConnectorToken = findBy(tokens, 'tokenHash')
/** Bounded by the limit of each tenant, as are its connectors. */
export const connectorTokensOf = allBy(
  tokens,
  ['tenantId'],
  asc(tokens.createdAt),
  asc(tokens.tokenId),
)
export const updateConnectorToken = updateBy(tokens, 'tokenId')
export const deleteConnectorToken = deleteBy(tokens, 'tenantId', 'tokenId')
export const deleteConnectorTokensBefore = deleteBefore(tokens.expiresAt)

export const insertConnector = insertInto(table)
export const findConnector = findBy(table, 'connectorId')
export const connectorsOf = allBy(table, ['tenantId'], asc(table.joinedAt), asc(table.connectorId))
export const updateConnector = updateBy(table, 'connectorId')

/** One that has gone meanwhile is none. */
export async function addConnectorRequests(queries: Queries, connectorId: string, more: number) {
  await queries
    .update(table)
    .set({ requests: sql`${table.requests} + ${more}` })
    .where(eq(table.connectorId, connectorId))
}

/** Those that were told to be here. */
export async function tenantsOfPresentConnectors(queries: Queries): Promise<string[]> {
  const rows = await queries
    .selectDistinct({ tenantId: table.tenantId })
    .from(table)
    .where(ne(table.presence, 'disconnected'))
  return rows.map(({ tenantId }) => tenantId)
}

/** Answers whether there was one. */
export async function deleteConnector(queries: Queries, tenantId: string, connectorId: string) {
  const isMeant = and(eq(table.tenantId, tenantId), eq(table.connectorId, connectorId))
  const gone = await queries.delete(table).where(isMeant).returning({ name: table.name })
  await queries.delete(keys).where(eq(keys.connectorId, connectorId))
  return gone[0]
}

const withoutAuthority = (authority: string) =>
  and(ne(table.authority, authority), eq(schema.tenants.mode, 'connector'))

/** Of those that can ask for their gateways at all. */
export async function countConnectorsWithoutAuthority(queries: Queries, authority: string) {
  const [row] = await queries
    .select({ count: sql<number>`count(*)` })
    .from(table)
    .innerJoin(schema.tenants, eq(schema.tenants.tenantId, table.tenantId))
    .where(withoutAuthority(authority))
  return Number(row?.count ?? 0)
}

/** The longest unseen come first. */
export function connectorsWithoutAuthority(queries: Queries, authority: string, limit: number) {
  const { connectorId, tenantId, name, seenAt } = table
  return queries
    .select({ connectorId, tenantId, name, seenAt })
    .from(table)
    .innerJoin(schema.tenants, eq(schema.tenants.tenantId, tenantId))
    .where(withoutAuthority(authority))
    .orderBy(asc(seenAt), asc(connectorId))
    .limit(limit)
}

export const insertConnectorKey = insertInto(keys)
export const connectorKeysOf = allBy(
  keys,
  ['connectorId'],
  asc(keys.isNext),
  asc(keys.createdAt),
  asc(keys.keyId),
)
export const updateConnectorKey = updateBy(keys, 'keyId')
export const deleteConnectorKey = deleteBy(keys, 'keyId')

/** In one order, so that the same keys are the same snapshot. */
export async function connectorKeysOfAll(queries: Queries, tenantIds: readonly string[]) {
  if (tenantIds.length === 0) return []
  return await queries
    .select()
    .from(keys)
    .where(inArray(keys.tenantId, [...tenantIds]))
    .orderBy(asc(keys.connectorId), asc(keys.isNext), asc(keys.keyId))
}

export const upsertGatewayDoor = upsertInto(
  doors,
  ['gatewayId'],
  'address',
  'certificate',
  'seenAt',
)
export const updateGatewayDoor = updateBy(doors, 'gatewayId')
export const deleteGatewayDoor = deleteBy(doors, 'gatewayId')
export const deleteGatewayDoorsBefore = deleteBefore(doors.seenAt)

/** By name; where there are more, those that were heard of last. */
export async function gatewayDoorsSince(queries: Queries, sinceMs: number, limit: number) {
  const rows = await queries
    .select()
    .from(doors)
    .where(gt(doors.seenAt, sinceMs))
    .orderBy(desc(doors.seenAt), asc(doors.gatewayId))
    .limit(limit)
  return rows.sort((a, b) => (a.gatewayId < b.gatewayId ? -1 : 1))
}
