import { and, asc, eq, inArray, isNull, lt, or } from '../drizzle.ts'
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

/** The latest that anybody says; one that has gone meanwhile is none. */
export async function markSecretUsed(
  queries: Queries,
  { tenantId, secretId, atMs }: { tenantId: string; secretId: string; atMs: number },
) {
  const isMeant = and(eq(secrets.tenantId, tenantId), eq(secrets.secretId, secretId))
  const isNews = or(isNull(secrets.usedAt), lt(secrets.usedAt, atMs))
  await queries.update(secrets).set({ usedAt: atMs }).where(and(isMeant, isNews))
}

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
