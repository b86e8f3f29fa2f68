import { isIP } from 'node:net'
import { HOUR_MS } from '../../../shared/clock.ts'
import { and, asc, eq, gte, inArray, isNull, lt, lte, or, sql } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import {
  addTo,
  allBy,
  deleteBefore,
  deleteBy,
  findBy,
  inParts,
  insertInto,
  updateBy,
} from '../statements.ts'

const {
  serviceAssertions: assertions,
  services,
  serviceSecrets: secrets,
  serviceUses: uses,
} = schema

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

/** What is told of a machine that was let in. */
export interface MachineUse {
  readonly tenantId: string
  readonly serviceId: string
  readonly secretId: string
  readonly atMs: number
  /** From where it came last. */
  readonly ip?: string | undefined
  /** How many requests that were; none, where it only asked for a token. */
  readonly requests: number
}

/** The latest that anybody says; one that has gone meanwhile is none. */
export async function noteMachineUse(queries: Queries, use: MachineUse): Promise<void> {
  const { tenantId, serviceId, secretId, atMs, ip = '', requests } = use
  const isSecret = and(eq(secrets.tenantId, tenantId), eq(secrets.secretId, secretId))
  const isNews = or(isNull(secrets.usedAt), lt(secrets.usedAt, atMs))
  await queries.update(secrets).set({ usedAt: atMs }).where(and(isSecret, isNews))
  const isService = and(eq(services.tenantId, tenantId), eq(services.serviceId, serviceId))
  const isLater = or(isNull(services.seenAt), lt(services.seenAt, atMs))
  const seen = { seenAt: atMs, ...(isIP(ip) !== 0 && { seenIp: ip }) }
  await queries.update(services).set(seen).where(and(isService, isLater))
  if (requests === 0 || (await findService(queries, tenantId, serviceId)) === undefined) return
  const hourAt = atMs - (atMs % HOUR_MS)
  await addUses(queries, [{ tenantId, serviceId, hourAt, count: requests }])
}

const addUses = addTo(uses)
export const deleteServiceUsesOf = deleteBy(uses, 'tenantId', 'serviceId')
export const deleteServiceUsesBefore = deleteBefore(uses.hourAt)

/** By service, of a tenant: how many requests there were from then on. */
export async function serviceUsesSince(
  queries: Queries,
  tenantId: string,
  sinceMs: number,
): Promise<ReadonlyMap<string, number>> {
  const { serviceId } = uses
  const rows = await queries
    .select({ serviceId, count: sql<number>`sum(${uses.count})` })
    .from(uses)
    .where(and(eq(uses.tenantId, tenantId), gte(uses.hourAt, sinceMs)))
    .groupBy(serviceId)
  return new Map(rows.map((row) => [row.serviceId, Number(row.count)]))
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

/** False: it has been here, whatever has become of it. The primary key says so. */
export async function insertServiceAssertion(
  queries: Queries,
  row: typeof assertions.$inferSelect,
): Promise<boolean> {
  const made = await queries
    .insert(assertions)
    .values(row)
    .onConflictDoNothing({ target: [assertions.tenantId, assertions.assertionHash] })
    .returning({ one: sql`1` })
  return made.length > 0
}

export const deleteServiceAssertionsEndedBefore = deleteBefore(assertions.endsAt)

/** Their ends are in the audit trail from here on. */
export async function noteSecretEnds(queries: Queries, secretIds: readonly string[]) {
  for await (const some of inParts(secretIds))
    await queries.update(secrets).set({ isEndNoted: true }).where(inArray(secrets.secretId, some))
}

/** By their id, of whatever tenant. */
export async function servicesAmong(
  queries: Queries,
  serviceIds: readonly string[],
): Promise<ReadonlyMap<string, ServiceRow>> {
  const rows = new Map<string, ServiceRow>()
  for await (const some of inParts(serviceIds)) {
    const found = queries.select().from(services)
    for (const row of await found.where(inArray(services.serviceId, some)))
      rows.set(row.serviceId, row)
  }
  return rows
}

/** Whose end is over, and in no audit trail yet. */
export async function serviceSecretsEndedUnnoted(
  queries: Queries,
  nowMs: number,
  limit: number,
): Promise<ServiceSecretRow[]> {
  return await queries
    .select()
    .from(secrets)
    .where(and(lte(secrets.endsAt, nowMs), eq(secrets.isEndNoted, false)))
    .orderBy(asc(secrets.endsAt))
    .limit(limit)
}
