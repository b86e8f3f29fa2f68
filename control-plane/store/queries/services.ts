import { asc, inArray, lt } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { allBy, deleteBy, findBy, insertInto, updateBy } from '../statements.ts'

const { services, serviceSecrets: secrets } = schema

export type ServiceRow = typeof services.$inferSelect
export type ServiceSecretRow = typeof secrets.$inferSelect

export const insertService = insertInto(services)
export const findService = findBy(services, 'tenantId', 'serviceId')
/** Bounded by the limit of each tenant, as are their secrets. */
export const servicesOf = allBy(
  services,
  ['tenantId'],
  asc(services.createdAt),
  asc(services.serviceId),
)
export const updateService = updateBy(services, 'tenantId', 'serviceId')
export const deleteService = deleteBy(services, 'tenantId', 'serviceId')

export const insertServiceSecret = insertInto(secrets)
export const serviceSecretsOf = allBy(
  secrets,
  ['tenantId'],
  asc(secrets.createdAt),
  asc(secrets.secretId),
)
export const deleteServiceSecret = deleteBy(secrets, 'tenantId', 'secretId')
export const deleteServiceSecretsOf = deleteBy(secrets, 'tenantId', 'serviceId')

/** Of many tenants at once, the oldest of each first. */
export async function servicesOfAll(
  queries: Queries,
  tenantIds: readonly string[],
): Promise<ServiceRow[]> {
  if (tenantIds.length === 0) return []
  return await queries
    .select()
    .from(services)
    .where(inArray(services.tenantId, [...tenantIds]))
    .orderBy(asc(services.createdAt), asc(services.serviceId))
}

export async function serviceSecretsOfAll(
  queries: Queries,
  tenantIds: readonly string[],
): Promise<ServiceSecretRow[]> {
  if (tenantIds.length === 0) return []
  return await queries
    .select()
    .from(secrets)
    .where(inArray(secrets.tenantId, [...tenantIds]))
    .orderBy(asc(secrets.createdAt), asc(secrets.secretId))
}

export async function servicesIdentifiedBefore(
  queries: Queries,
  beforeMs: number,
  limit: number,
): Promise<ServiceRow[]> {
  return await queries
    .select()
    .from(services)
    .where(lt(services.identityAt, beforeMs))
    .orderBy(asc(services.identityAt))
    .limit(limit)
}
