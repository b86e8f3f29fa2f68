import { and, desc, eq, gt, inArray, lt } from 'drizzle-orm'
import { schema } from '../schema.ts'
import type { Queries } from '../sqlite.ts'

const table = schema.knownDevices
export type KnownDeviceRow = typeof table.$inferSelect

const isOf = (tenantId: string, userId: string) =>
  and(eq(table.tenantId, tenantId), eq(table.userId, userId))

export async function findKnownDevice(
  queries: Queries,
  { tenantId, userId, cookieHash }: Pick<KnownDeviceRow, 'tenantId' | 'userId' | 'cookieHash'>,
  sinceMs: number,
) {
  const [row] = await queries
    .select()
    .from(table)
    .where(
      and(isOf(tenantId, userId), eq(table.cookieHash, cookieHash), gt(table.lastSeenAt, sinceMs)),
    )
  return row
}

export async function upsertKnownDevice(queries: Queries, row: KnownDeviceRow): Promise<void> {
  const { userAgent, ip, lastSeenAt } = row
  await queries
    .insert(table)
    .values(row)
    .onConflictDoUpdate({
      target: [table.tenantId, table.userId, table.cookieHash],
      set: { userAgent, ip, lastSeenAt },
    })
}

/** The one that was used last comes first. */
export async function knownDevicesOf(
  queries: Queries,
  tenantId: string,
  userId: string,
  limit: number,
): Promise<KnownDeviceRow[]> {
  return await queries
    .select()
    .from(table)
    .where(isOf(tenantId, userId))
    .orderBy(desc(table.lastSeenAt))
    .limit(limit)
}

export async function deleteKnownDevice(
  queries: Queries,
  tenantId: string,
  userId: string,
  deviceId: string,
): Promise<boolean> {
  const gone = await queries
    .delete(table)
    .where(and(isOf(tenantId, userId), eq(table.deviceId, deviceId)))
    .returning({ deviceId: table.deviceId })
  return gone.length > 0
}

export async function deleteKnownDevicesOf(queries: Queries, tenantId: string, userId: string) {
  await queries.delete(table).where(isOf(tenantId, userId))
}

export async function deleteKnownDevicesSeenBefore(
  queries: Queries,
  beforeMs: number,
  limit: number,
): Promise<number> {
  const old = await queries
    .select({ deviceId: table.deviceId })
    .from(table)
    .where(lt(table.lastSeenAt, beforeMs))
    .limit(limit)
  if (old.length === 0) return 0
  const ids = old.map(({ deviceId }) => deviceId)
  await queries.delete(table).where(inArray(table.deviceId, ids))
  return ids.length
}
