/** What people see of devices and do about them: lists, approval, owners, suspicions, and their end. */
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { Enforced } from '../store/enforced.ts'
import { decodeCursor, toPage, type Page, type PageRequest } from '../store/page.ts'
import {
  deleteDevicesRevokedBefore,
  devicesListed,
  devicesOnMachines,
  findListedDevice,
  type DeviceFilter,
} from '../store/queries/device-lists.ts'
import {
  deleteDevice,
  devicesByIds,
  findDeviceRow,
  findPosture,
  markRevoked,
  updateDevice,
  type DeviceRow,
} from '../store/queries/enrolled-devices.ts'
import { findTenant } from '../store/queries/tenants.ts'
import { findUser } from '../store/queries/users.ts'
import type { Queries } from '../store/engine.ts'
import { pruneWith } from '../store/statements.ts'
import type { Actor, Change, Store, TenantChange } from '../store/store.ts'
import { found } from '../tenants/alter.ts'
import type { OnChanged } from './check-ins.ts'
import { deviceOf, type EnrolledDevice } from './enrolled-device.ts'
import { hasRoom, requireRoom } from './enrolment.ts'
import { cleared } from './ratchet.ts'
import { endSessionsOn } from './sessions-on-devices.ts'

export type { DeviceFilter }

/** One of a list, with the others that are enrolled on the same hardware. */
export interface ListedDevice extends EnrolledDevice {
  readonly sameMachine: readonly string[]
}

export interface EndedDevices {
  readonly deviceIds: readonly string[]
  readonly sessions: number
  /** Who refuses the sessions by now; known once the change has settled. */
  readonly enforced: Promise<Enforced>
}

export interface PatchedDevice {
  readonly device: ListedDevice
  /** Where sessions end with it, since it is out of the policy by that. */
  readonly enforced?: Promise<Enforced>
}

/** What an administrator decides of one device. */
export interface DevicePatch {
  readonly isApproved?: boolean | undefined
  /** null: whoever signs in with it next. */
  readonly userId?: string | null | undefined
  /** It is no copy, or the copy is gone. */
  readonly isCleared?: true | undefined
}

interface ManagementWorld {
  readonly store: Store
  /** What an administrator has decided of a device may put it out of the policy. */
  readonly onChanged: OnChanged
}

export function createManagement({ store, onChanged }: ManagementWorld) {
  async function require(queries: Queries, tenantId: string, deviceId: string) {
    found(await findTenant(queries, tenantId))
    const row = await findDeviceRow(queries, deviceId)
    if (row?.tenantId !== tenantId) throw new Refusal('device_not_found')
    return row
  }

  async function listed(
    tenantId: string,
    rows: Awaited<ReturnType<typeof devicesListed>>,
  ): Promise<ListedDevice[]> {
    const hashes = [...new Set(rows.map(({ row }) => row.machineHash))]
    const most = LIMITS.devicesOnMachineMax
    const onThem = await devicesOnMachines(store.read, tenantId, hashes, most)
    const byHash = Map.groupBy(onThem, ({ machineHash }) => machineHash)
    return rows.map(({ row, posture }) => {
      const same = byHash.get(row.machineHash) ?? []
      const others = same.map(({ deviceId }) => deviceId).filter((id) => id !== row.deviceId)
      return { ...deviceOf(row, posture), sameMachine: others }
    })
  }

  async function list(tenantId: string, filter: DeviceFilter, page: PageRequest) {
    const [enrolledAt, deviceId] = decodeCursor(page.cursor, 'number', 'string') ?? []
    const behind =
      enrolledAt === undefined || deviceId === undefined ? undefined : { enrolledAt, deviceId }
    const asked = { filter, behind, limit: page.limit + 1 }
    const rows = await devicesListed(store.read, tenantId, asked)
    const { items, next } = toPage(rows, page.limit, ({ row }) => [row.enrolledAt, row.deviceId])
    return { items: await listed(tenantId, items), next }
  }

  async function find(tenantId: string, deviceId: string): Promise<ListedDevice> {
    found(await findTenant(store.read, tenantId))
    const row = await findListedDevice(store.read, tenantId, deviceId)
    const [device] = row === undefined ? [] : await listed(tenantId, [row])
    if (device === undefined) throw new Refusal('device_not_found')
    return device
  }

  async function approve(change: Change, row: DeviceRow, isApproved: boolean, actor: Actor) {
    if ((row.approvedAt !== null) === isApproved) return
    const approvedAt = isApproved ? change.nowMs : null
    await updateDevice(change.queries, row.deviceId, { approvedAt })
    await tell(change, row, actor, isApproved ? 'device.approved' : 'device.unapproved')
  }

  async function give(change: Change, row: DeviceRow, userId: string | null, actor: Actor) {
    if (row.userId === userId) return
    const { queries } = change
    if (userId !== null) {
      if ((await findUser(queries, row.tenantId, userId)) === undefined)
        throw new Refusal('user_not_found', { field: 'owner' })
      await requireRoom(queries, row.tenantId, userId)
    }
    await updateDevice(queries, row.deviceId, { userId })
    await tell(change, row, actor, 'device.owner_changed', { user_id: userId })
  }

  async function clear(change: Change, row: DeviceRow, actor: Actor) {
    if (row.suspectedAt === null) return
    const { turnedBy, boots } = cleared(row)
    const trusted = { suspectedAt: null, suspicion: null, turnedBy, boots }
    await updateDevice(change.queries, row.deviceId, trusted)
    await tell(change, row, actor, 'device.cleared')
  }

  /** In one change: all of them are over, or none. */
  async function endAll(
    tenantId: string,
    deviceIds: readonly string[],
    end: (change: Change, rows: readonly DeviceRow[]) => Promise<void>,
  ): Promise<EndedDevices> {
    const ids = [...new Set(deviceIds)]
    return store.change(async (change) => {
      const { queries } = change
      found(await findTenant(queries, tenantId))
      const rows = await devicesByIds(queries, tenantId, ids)
      if (rows.length < ids.length) throw new Refusal('device_not_found')
      await end(change, rows)
      const sessions = await endSessionsOn(change, tenantId, ids, 'device_revoked')
      return { deviceIds: ids, sessions, enforced: change.enforced }
    })
  }

  async function revokeIn(change: Change, rows: readonly DeviceRow[], actor: Actor) {
    const live = rows.filter(({ revokedAt }) => revokedAt === null)
    const ids = live.map(({ deviceId }) => deviceId)
    await markRevoked(change.queries, ids, change.nowMs)
    const entries = live.map((row) => entryOf(row, 'device.revoked'))
    await change.auditEach(actor, entries)
  }

  return {
    /** The latest to enroll comes first. */
    async list(
      tenantId: string,
      filter: DeviceFilter,
      page: PageRequest,
    ): Promise<Page<ListedDevice>> {
      found(await findTenant(store.read, tenantId))
      return list(tenantId, filter, page)
    },

    find,

    /** What a person has, with the latest first; bounded by what a person may have. */
    async ofPerson(tenantId: string, userId: string): Promise<ListedDevice[]> {
      return (await list(tenantId, { userId }, { limit: LIMITS.devicesPerPersonMax })).items
    },

    async patch(
      tenantId: string,
      deviceId: string,
      { isApproved, userId, isCleared }: DevicePatch,
      actor: Actor,
    ): Promise<PatchedDevice> {
      const { sessions, enforced } = await store.change(async (change) => {
        const row = await require(change.queries, tenantId, deviceId)
        if (row.revokedAt !== null) throw new Refusal('device_revoked')
        if (isCleared === true) await clear(change, row, actor)
        if (userId !== undefined) await give(change, row, userId, actor)
        if (isApproved !== undefined) await approve(change, row, isApproved, actor)
        const after = (await findDeviceRow(change.queries, deviceId)) ?? row
        const device = deviceOf(after, await findPosture(change.queries, deviceId))
        return { sessions: await onChanged(change, device), enforced: change.enforced }
      })
      const device = await find(tenantId, deviceId)
      return sessions === 0 ? { device } : { device, enforced }
    },

    /** Nobody's becomes the one's who first signs in with it, in that change; where they have room. */
    async claim(
      change: TenantChange,
      tenantId: string,
      deviceId: string,
      userId: string,
      actor: Actor,
    ): Promise<void> {
      const { queries } = change
      const row = await findDeviceRow(queries, deviceId)
      if (row?.tenantId !== tenantId || row.userId !== null || row.revokedAt !== null) return
      if (!(await hasRoom(queries, tenantId, userId))) return
      await updateDevice(queries, deviceId, { userId })
      await tell(change, row, actor, 'device.owner_changed', { user_id: userId })
    },

    /** Their sessions end with them, in one change; its answer waits for the gateways. */
    revoke: (tenantId: string, deviceIds: readonly string[], actor: Actor) =>
      endAll(tenantId, deviceIds, (change, rows) => revokeIn(change, rows, actor)),

    /** As revoke, and nothing of it is kept but the audit trail. */
    remove: (tenantId: string, deviceId: string, actor: Actor): Promise<EndedDevices> =>
      endAll(tenantId, [deviceId], async (change, rows) => {
        await deleteDevice(change.queries, tenantId, deviceId)
        for (const row of rows) await tell(change, row, actor, 'device.removed')
      }),

    /** One's own: those of others are not found. */
    async removeOwn(
      tenantId: string,
      userId: string,
      deviceId: string,
      actor: Actor,
    ): Promise<EndedDevices> {
      const isOwn = (row: DeviceRow) => row.userId === userId && row.revokedAt === null
      return endAll(tenantId, [deviceId], async (change, rows) => {
        if (!rows.every(isOwn)) throw new Refusal('device_not_found')
        await revokeIn(change, rows, actor)
      })
    },

    prune: pruneWith(store, deleteDevicesRevokedBefore, LIMITS.deviceRevokedKeptMs),
  }
}

async function tell(
  change: TenantChange,
  row: DeviceRow,
  actor: Actor,
  action: string,
  more: Record<string, unknown> = {},
) {
  await change.audit(actor, entryOf(row, action, more))
}

function entryOf(
  { deviceId, tenantId, hostname }: DeviceRow,
  action: string,
  more: Record<string, unknown> = {},
) {
  return { action, tenantId, content: { device_id: deviceId, hostname, ...more } }
}
