/** Machines with our agent as people look at them, together with what each says of itself. */
import { setImmediate as breathe } from 'node:timers/promises'
import type { DevicePlatform } from '../../../shared/device/facts.ts'
import type { DeviceState } from '../../../shared/device/messages.ts'
import {
  and,
  count,
  desc,
  eq,
  getTableColumns,
  gt,
  inArray,
  isNotNull,
  isNull,
  lt,
  sql,
  type SQL,
} from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { isOneOf } from '../statements.ts'

const { enrolledDevices: table, devicePostures: postures } = schema

export interface DeviceFilter {
  /** None: all that were not revoked. */
  readonly state?: DeviceState | undefined
  readonly platform?: DevicePlatform | undefined
  readonly userId?: string | undefined
  /** Any part of a hostname or an id. */
  readonly text?: string | undefined
  /** Whose hardware is enrolled more than once. */
  readonly isDuplicate?: boolean | undefined
}

interface Place {
  readonly enrolledAt: number
  readonly deviceId: string
}

interface Listed {
  readonly filter: DeviceFilter
  readonly behind: Place | undefined
  readonly limit: number
}

/** Of which most may not be meant: so many are looked at before others have their turn. */
const LOOKED_AT_TOGETHER = 5000

const isKept = isNull(table.revokedAt)
const isTrusted = and(isKept, isNull(table.suspectedAt))
const STATES = {
  pending: and(isTrusted, isNull(table.approvedAt)),
  approved: and(isTrusted, isNotNull(table.approvedAt)),
  suspect_clone: and(isKept, isNotNull(table.suspectedAt)),
  revoked: isNotNull(table.revokedAt),
}
const WITH_POSTURE = {
  row: getTableColumns(table),
  posture: {
    posture: postures.posture,
    factsSince: postures.factsSince,
    unmetSince: postures.unmetSince,
  },
}

/** The latest to enroll comes first. */
export async function devicesListed(
  queries: Queries,
  tenantId: string,
  { filter, behind, limit }: Listed,
) {
  const { userId, isDuplicate = false } = filter
  const isShort = userId !== undefined || isDuplicate // found by an index, or all at once
  const found: Awaited<ReturnType<typeof devicesBetween>> = []
  for (let from = behind; ;) {
    const end = isShort ? undefined : await endOfLook(queries, tenantId, from)
    const wished = { filter, limit: limit - found.length }
    found.push(...(await devicesBetween(queries, tenantId, from, end, wished)))
    if (end === undefined || found.length >= limit) return found
    from = end
    await breathe()
  }
}

const placeOf = sql`(${table.enrolledAt}, ${table.deviceId})`
const at = ({ enrolledAt, deviceId }: Place) => sql`(${enrolledAt}, ${deviceId})`
const isBehind = (from: Place | undefined) => from && sql`${placeOf} < ${at(from)}`
const NEWEST_FIRST = [desc(table.enrolledAt), desc(table.deviceId)]

async function devicesBetween(
  queries: Queries,
  tenantId: string,
  from: Place | undefined,
  end: Place | undefined,
  { filter, limit }: Pick<Listed, 'filter' | 'limit'>,
) {
  const isWithin = and(isBehind(from), end && sql`${placeOf} >= ${at(end)}`)
  return await queries
    .select(WITH_POSTURE)
    .from(table)
    .leftJoin(postures, eq(postures.deviceId, table.deviceId))
    .where(and(eq(table.tenantId, tenantId), isWithin, isMeant(queries, tenantId, filter)))
    .orderBy(...NEWEST_FIRST)
    .limit(limit)
}

/** By the index alone; undefined: there are not so many more. */
async function endOfLook(queries: Queries, tenantId: string, from: Place | undefined) {
  const [end] = await queries
    .select({ enrolledAt: table.enrolledAt, deviceId: table.deviceId })
    .from(table)
    .where(and(eq(table.tenantId, tenantId), isBehind(from)))
    .orderBy(...NEWEST_FIRST)
    .limit(1)
    .offset(LOOKED_AT_TOGETHER - 1)
  return end
}

function isMeant(queries: Queries, tenantId: string, filter: DeviceFilter): SQL | undefined {
  const { state, platform, userId, text = '', isDuplicate } = filter
  const sought = text.toLowerCase()
  return and(
    state === undefined ? isKept : STATES[state],
    platform && eq(table.platform, platform),
    userId === undefined ? undefined : eq(table.userId, userId),
    text === ''
      ? undefined
      : sql`(instr(lower(${table.hostname}), ${sought}) > 0 or ${table.deviceId} = ${sought})`,
    isDuplicate === true
      ? inArray(
          table.machineHash,
          queries
            .select({ machineHash: table.machineHash })
            .from(table)
            .where(and(eq(table.tenantId, tenantId), isKept))
            .groupBy(table.machineHash)
            .having(gt(count(), 1)),
        )
      : undefined,
  )
}

export async function findListedDevice(queries: Queries, tenantId: string, deviceId: string) {
  const [found] = await queries
    .select(WITH_POSTURE)
    .from(table)
    .leftJoin(postures, eq(postures.deviceId, table.deviceId))
    .where(and(eq(table.deviceId, deviceId), eq(table.tenantId, tenantId)))
  return found
}

/**
 * Enrolled devices by the hardware that they are on, of these; the latest first. Of each so many are
 * read: which hardware it is says the machine.
 */
export async function devicesOnMachines(
  queries: Queries,
  tenantId: string,
  hashes: readonly string[],
  limitOfEach: number,
) {
  const { machineHash, deviceId, enrolledAt, revokedAt } = table
  // each by itself: for a list of them a database may rather read the whole tenant
  const each = hashes.map((hash) =>
    queries
      .select({ machineHash, deviceId, enrolledAt, revokedAt })
      .from(table)
      .where(and(eq(table.tenantId, tenantId), eq(machineHash, hash)))
      .limit(limitOfEach),
  )
  const all = (await Promise.all(each)).flat().filter((one) => one.revokedAt === null)
  return all.sort((a, b) => b.enrolledAt - a.enrolledAt)
}

/** Whose owner is nobody any more: they may be somebody else's once an administrator says so. */
export async function disownDevices(queries: Queries, tenantId: string, userId: string) {
  await queries
    .update(table)
    .set({ userId: null, approvedAt: null })
    .where(and(eq(table.tenantId, tenantId), eq(table.userId, userId)))
  await queries
    .delete(schema.deviceTickets)
    .where(
      and(eq(schema.deviceTickets.tenantId, tenantId), eq(schema.deviceTickets.userId, userId)),
    )
}

/** So many of those that were revoked long ago. */
export async function deleteDevicesRevokedBefore(
  queries: Queries,
  beforeMs: number,
  limit: number,
) {
  const gone = await queries
    .delete(table)
    .where(isOneOf(queries, table, lt(table.revokedAt, beforeMs), limit))
    .returning({ deviceId: table.deviceId })
  const deviceIds = gone.map(({ deviceId }) => deviceId)
  if (deviceIds.length > 0)
    await queries.delete(postures).where(inArray(postures.deviceId, deviceIds))
  return gone.length
}
