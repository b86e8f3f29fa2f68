import { and, desc, eq, gt, inArray, or } from '../drizzle.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteBefore, deleteBy, firstBy, insertInto, updateBy } from '../statements.ts'

const SURPLUS_AT_ONCE = 100

const table = schema.knownDevices
export type KnownDeviceRow = typeof table.$inferSelect

const isOf = (tenantId: string, userId: string) =>
  and(eq(table.tenantId, tenantId), eq(table.userId, userId))

/** By the cookie of now, or by the one that it has replaced a moment ago. */
export async function findKnownDevice(
  queries: Queries,
  { tenantId, userId, hashes }: Owner & { readonly hashes: readonly string[] },
  { seenMs, replacedMs }: { readonly seenMs: number; readonly replacedMs: number },
) {
  const isCurrent = inArray(table.cookieHash, [...hashes])
  const isReplaced = and(inArray(table.replacedHash, [...hashes]), gt(table.replacedAt, replacedMs))
  const [row] = await queries
    .select()
    .from(table)
    .where(and(isOf(tenantId, userId), or(isCurrent, isReplaced), gt(table.lastSeenAt, seenMs)))
    .orderBy(desc(table.lastSeenAt))
    .limit(1)
  return row
}
type Owner = Pick<KnownDeviceRow, 'tenantId' | 'userId'>

/** Which of these a browser may keep: they are somebody's. */
export async function cookieHashesAmong(
  queries: Queries,
  tenantId: string,
  hashes: readonly string[],
): Promise<{ readonly userId: string; readonly cookieHash: string }[]> {
  // one by one: for a list of them the planner reads all browsers of the tenant
  const found = hashes.map((hash) =>
    queries
      .select({ userId: table.userId, cookieHash: table.cookieHash })
      .from(table)
      .where(and(eq(table.tenantId, tenantId), eq(table.cookieHash, hash))),
  )
  return (await Promise.all(found)).flat()
}

const insert = insertInto(table)

/** Those that were used last stay: a password that is changed forgets all of them in one change. */
export async function insertKnownDevice(queries: Queries, row: KnownDeviceRow): Promise<void> {
  const { tenantId, userId } = row
  const surplus = await queries
    .select({ deviceId: table.deviceId })
    .from(table)
    .where(isOf(tenantId, userId))
    .orderBy(desc(table.lastSeenAt))
    .limit(SURPLUS_AT_ONCE)
    .offset(LIMITS.knownDevicesPerPersonMax - 1)
  const deviceIds = surplus.map(({ deviceId }) => deviceId)
  if (deviceIds.length > 0) await queries.delete(table).where(inArray(table.deviceId, deviceIds))
  await insert(queries, row)
}

export const updateKnownDevice = updateBy(table, 'deviceId')

/** The one that was used last comes first. */
export const knownDevicesOf = firstBy(table, ['tenantId', 'userId'], desc(table.lastSeenAt))

export const deleteKnownDevice = deleteBy(table, 'tenantId', 'userId', 'deviceId')

export const deleteKnownDevicesOf = deleteBy(table, 'tenantId', 'userId')

export const deleteKnownDevicesSeenBefore = deleteBefore(table.lastSeenAt)
