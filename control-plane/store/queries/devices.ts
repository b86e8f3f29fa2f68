import { and, desc, eq, gt, inArray, or, sql } from '../drizzle.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import {
  deleteBefore,
  deleteBy,
  firstBy,
  given,
  insertInto,
  preparedBy,
  updateBy,
} from '../statements.ts'

const SURPLUS_AT_ONCE = 100

const table = schema.knownDevices
export type KnownDeviceRow = typeof table.$inferSelect

const isOf = and(
  eq(table.tenantId, given(table.tenantId, 'tenantId')),
  eq(table.userId, given(table.userId, 'userId')),
)

/** By the cookie of now, or by the one that it has replaced a moment ago. */
export async function findKnownDevice(
  queries: Queries,
  { tenantId, userId, hashes }: Owner & { readonly hashes: readonly string[] },
  times: { readonly seenMs: number; readonly replacedMs: number },
) {
  const names = hashes.map((_, at) => `hash ${at}`)
  const find = findings.getOrInsertComputed(hashes.length, () => findingOf(names))
  const shown = Object.fromEntries(names.map((name, at) => [name, hashes[at]] as const))
  return (await find(queries, { tenantId, userId, ...shown, ...times }))[0]
}

/** By how many hashes are shown: no browser shows more than a few. */
const findings = new Map<number, ReturnType<typeof findingOf>>()

function findingOf(names: readonly string[]) {
  const hashes = names.map((name) => sql.placeholder(name))
  const isCurrent = inArray(table.cookieHash, hashes)
  const isReplaced = and(
    inArray(table.replacedHash, hashes),
    gt(table.replacedAt, sql.placeholder('replacedMs')),
  )
  const isSeen = gt(table.lastSeenAt, sql.placeholder('seenMs'))
  return preparedBy((queries) =>
    queries
      .select()
      .from(table)
      .where(and(isOf, or(isCurrent, isReplaced), isSeen))
      .orderBy(desc(table.lastSeenAt))
      .limit(1),
  )
}

type Owner = Pick<KnownDeviceRow, 'tenantId' | 'userId'>

/** Which of these a browser may keep: they are somebody's. */
export async function cookieHashesAmong(
  queries: Queries,
  tenantId: string,
  hashes: readonly string[],
): Promise<{ readonly userId: string; readonly cookieHash: string }[]> {
  // one by one: for a list of them the planner reads all browsers of the tenant
  const found = hashes.map((cookieHash) => ownersOf(queries, { tenantId, cookieHash }))
  return (await Promise.all(found)).flat()
}

const ownersOf = preparedBy((queries) =>
  queries
    .select({ userId: table.userId, cookieHash: table.cookieHash })
    .from(table)
    .where(
      and(
        eq(table.tenantId, given(table.tenantId, 'tenantId')),
        eq(table.cookieHash, given(table.cookieHash, 'cookieHash')),
      ),
    ),
)

const insert = insertInto(table)

/** Those that were used last stay: a password that is changed forgets all of them in one change. */
export async function insertKnownDevice(queries: Queries, row: KnownDeviceRow): Promise<void> {
  const surplus = await findSurplus(queries, { ...row })
  const deviceIds = surplus.map(({ deviceId }) => deviceId)
  if (deviceIds.length > 0) await queries.delete(table).where(inArray(table.deviceId, deviceIds))
  await insert(queries, row)
}

const findSurplus = preparedBy((queries) =>
  queries
    .select({ deviceId: table.deviceId })
    .from(table)
    .where(isOf)
    .orderBy(desc(table.lastSeenAt))
    .limit(SURPLUS_AT_ONCE)
    .offset(LIMITS.knownDevicesPerPersonMax - 1),
)

export const updateKnownDevice = updateBy(table, 'deviceId')

/** The one that was used last comes first. */
export const knownDevicesOf = firstBy(table, ['tenantId', 'userId'], desc(table.lastSeenAt))

export const deleteKnownDevice = deleteBy(table, 'tenantId', 'userId', 'deviceId')

export const deleteKnownDevicesOf = deleteBy(table, 'tenantId', 'userId')

export const deleteKnownDevicesSeenBefore = deleteBefore(table.lastSeenAt)
