/** Command line tools that wait to be allowed a tenant's key. */
import { and, count, eq, gt, min, ne, type SQL } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteBefore, deleteBy, findBy, insertInto, updateBy } from '../statements.ts'

const { deviceCodes: codes } = schema

export type DeviceCodeRow = typeof codes.$inferSelect

export const insertDeviceCode = insertInto(codes)

export const findDeviceCode = findBy(codes, 'deviceHash')

export const findDeviceCodeByUserCode = findBy(codes, 'userCodeHash')

export const updateDeviceCode = updateBy(codes, 'deviceHash')

/** One that has been answered is not answered again. */
export const answerDeviceCode = updateBy(codes, 'deviceHash', 'state')

export const deleteDeviceCode = deleteBy(codes, 'deviceHash')

/** How many can still be used (a denied one only says so), and when the first of them no longer can. */
async function counted(queries: Queries, nowMs: number, areMeant?: SQL) {
  const [row] = await queries
    .select({ open: count(), firstEndsMs: min(codes.expiresAt) })
    .from(codes)
    .where(and(areMeant, gt(codes.expiresAt, nowMs), ne(codes.state, 'denied')))
  return { open: row?.open ?? 0, firstEndsMs: row?.firstEndsMs ?? nowMs }
}

export const deviceCodesOpen = (queries: Queries, nowMs: number) => counted(queries, nowMs)

export const deviceCodesOfNetwork = (queries: Queries, nowMs: number, network: string) =>
  counted(queries, nowMs, eq(codes.network, network))

export const deviceCodesOfSite = (queries: Queries, nowMs: number, site: string) =>
  counted(queries, nowMs, eq(codes.site, site))

export const deleteDeviceCodesBefore = deleteBefore(codes.expiresAt)
