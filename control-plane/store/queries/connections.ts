import { and, asc, eq, sql } from '../drizzle.ts'
import type { Queries } from '../engine.ts'
import { schema } from '../schema.ts'
import { allBy, deleteBy, deleteSome, findBy, insertInto, updateBy } from '../statements.ts'

const {
  connections,
  connectionDomains: domains,
  connectionIdentities: identities,
  samlConnections,
} = schema

export type ConnectionRow = typeof connections.$inferSelect

export const insertConnection = insertInto(connections)
export const findConnection = findBy(connections, 'tenantId', 'connectionId')
export const updateConnection = updateBy(connections, 'tenantId', 'connectionId')
/** The oldest first. */
export const connectionsOf = allBy(
  connections,
  ['tenantId'],
  asc(connections.createdAt),
  asc(connections.connectionId),
)

export async function countConnections(queries: Queries, tenantId: string): Promise<number> {
  return await queries.$count(connections, eq(connections.tenantId, tenantId))
}

/** Of those who come in by it; answers how many. */
export async function deleteSomeIdentities(
  queries: Queries,
  tenantId: string,
  connectionId: string,
  limit: number,
): Promise<number> {
  const isOf = and(eq(identities.tenantId, tenantId), eq(identities.connectionId, connectionId))
  return deleteSome(queries, identities, isOf, limit)
}

/** Nobody comes in by it any more. */
export async function deleteConnection(queries: Queries, tenantId: string, connectionId: string) {
  await queries
    .delete(domains)
    .where(and(eq(domains.tenantId, tenantId), eq(domains.connectionId, connectionId)))
  await queries
    .delete(samlConnections)
    .where(
      and(eq(samlConnections.tenantId, tenantId), eq(samlConnections.connectionId, connectionId)),
    )
  await queries
    .delete(connections)
    .where(and(eq(connections.tenantId, tenantId), eq(connections.connectionId, connectionId)))
}

/** The primary key refuses a second owner. */
export const insertIdentity = insertInto(identities)
export const findIdentity = findBy(identities, 'tenantId', 'connectionId', 'issuer', 'subject')
export const deleteIdentitiesOf = deleteBy(identities, 'tenantId', 'userId')
export const identitiesOfPerson = allBy(
  identities,
  ['tenantId', 'userId'],
  asc(identities.createdAt),
  asc(identities.connectionId),
)
/** Somebody comes in by it. */
export async function hasIdentities(queries: Queries, tenantId: string, connectionId: string) {
  const isOf = and(eq(identities.tenantId, tenantId), eq(identities.connectionId, connectionId))
  const found = await queries
    .select({ one: sql`1` })
    .from(identities)
    .where(isOf)
    .limit(1)
  return found.length > 0
}
/** At one connection. */
export const deleteIdentityOf = deleteBy(identities, 'tenantId', 'connectionId', 'userId')
