import { asc } from '../drizzle.ts'
import { schema } from '../schema.ts'
import { allBy, deleteBefore, deleteBy, findBy, insertInto, upsertInto } from '../statements.ts'

const { clientSessions, realmClients } = schema

export type RealmClientRow = typeof realmClients.$inferSelect

export const insertRealmClient = insertInto(realmClients)
export const findRealmClient = findBy(realmClients, 'tenantId', 'clientId')
/** Bounded by the limit of each tenant. */
export const realmClientsOf = allBy(
  realmClients,
  ['tenantId'],
  asc(realmClients.createdAt),
  asc(realmClients.clientId),
)
export const deleteRealmClient = deleteBy(realmClients, 'tenantId', 'clientId')

export const putClientSession = upsertInto(
  clientSessions,
  ['tenantId', 'sid', 'clientId'],
  'expiresAt',
)
export const deleteClientSessionsBefore = deleteBefore(clientSessions.expiresAt)
