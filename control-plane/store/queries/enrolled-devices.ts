/** Machines with our agent, as one of them is found by what it signs. Lists of them: device-lists.ts. */
import { and, count, desc, eq, inArray, isNull, sql } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import {
  deleteBy,
  findBy,
  firstBy,
  insertInto,
  rewriteBy,
  updateBy,
  upsertInto,
} from '../statements.ts'

const { enrolledDevices: table, devicePostures: postures } = schema

export type DeviceRow = typeof table.$inferSelect
export type PostureRow = typeof postures.$inferSelect

export const insertDevice = insertInto(table)
export const findDeviceRow = findBy(table, 'deviceId')
export const updateDevice = updateBy(table, 'deviceId')
/** By their keys; without those of other tenants. */
export async function devicesByIds(
  queries: Queries,
  tenantId: string,
  deviceIds: readonly string[],
): Promise<DeviceRow[]> {
  if (deviceIds.length === 0) return []
  const rows = await queries
    .select()
    .from(table)
    .where(inArray(table.deviceId, [...deviceIds]))
  return rows.filter((row) => row.tenantId === tenantId)
}
export async function markRevoked(queries: Queries, deviceIds: readonly string[], atMs: number) {
  if (deviceIds.length === 0) return
  const areMeant = inArray(table.deviceId, [...deviceIds])
  await queries.update(table).set({ revokedAt: atMs }).where(areMeant)
}
/** What every check-in writes. */
export const rewriteChain = rewriteBy(
  table,
  'deviceId',
  'currentHash',
  'otherHash',
  'previousHash',
  'turnedBy',
  'boots',
  'seenAt',
  'collectedAt',
  'postureHash',
  'agent',
)
/** Answers whether there was one. */
export async function deleteDevice(queries: Queries, tenantId: string, deviceId: string) {
  await deletePosture(queries, tenantId, deviceId)
  return deleteDeviceRow(queries, tenantId, deviceId)
}
const deleteDeviceRow = deleteBy(table, 'tenantId', 'deviceId')
const deletePosture = deleteBy(postures, 'tenantId', 'deviceId')

/** Enrolled by this key with this ticket, the latest first. */
export const devicesByKey = firstBy(table, ['ticketId', 'publicKey'], desc(table.enrolledAt))

/** The latest first. */
export const devicesOfPerson = firstBy(table, ['tenantId', 'userId'], desc(table.enrolledAt))

/** Those that were revoked take up no room. */
export async function countDevices(queries: Queries, tenantId: string): Promise<number> {
  const areMeant = and(eq(table.tenantId, tenantId), isNull(table.revokedAt))
  const [row] = await queries.select({ count: count() }).from(table).where(areMeant)
  return row?.count ?? 0
}

export async function countDevicesOf(queries: Queries, tenantId: string, userId: string) {
  const isOwn = and(eq(table.tenantId, tenantId), eq(table.userId, userId))
  const [row] = await queries
    .select({ count: sql<number>`count(*)` })
    .from(table)
    .where(and(isOwn, isNull(table.revokedAt)))
  return row?.count ?? 0
}

export const findPosture = findBy(postures, 'deviceId')
export const upsertPosture = upsertInto(
  postures,
  ['deviceId'],
  'posture',
  'factsSince',
  'unmetSince',
)

/** Neither revoked nor removed nor taken for a copy: what was begun on it may go on. */
export async function isDeviceGood(queries: Queries, deviceId: string): Promise<boolean> {
  const row = await findDeviceRow(queries, deviceId)
  return row !== undefined && row.revokedAt === null && row.suspectedAt === null
}
