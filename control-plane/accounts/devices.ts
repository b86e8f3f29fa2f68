/**
 * Browsers that have signed in to an account before, known by a cookie that they keep. One cookie
 * serves all accounts of a realm that the browser is used for.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { DAY_MS, type Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { Vault } from '../keys/vault.ts'
import {
  deleteKnownDevice,
  deleteKnownDevicesSeenBefore,
  findKnownDevice,
  knownDevicesOf,
  upsertKnownDevice,
  type KnownDeviceRow,
} from '../store/queries/devices.ts'
import type { Change, Store } from '../store/store.ts'

export const DEVICE_KEPT_MS = 365 * DAY_MS

export type KnownDevice = Readonly<Omit<KnownDeviceRow, 'cookieHash'>>
export type Devices = ReturnType<typeof createDevices>

export interface SeenDevice {
  readonly tenantId: string
  readonly userId: string
  readonly cookie: string
  readonly userAgent: string
  readonly ip: string
}

export function createDevices({
  store,
  vault,
  clock,
}: {
  readonly store: Store
  readonly vault: Pick<Vault, 'hash'>
  readonly clock: Clock
}) {
  const hashOf = (tenantId: string, cookie: string) =>
    vault.hash(`known_devices/${tenantId}/${cookie}`)

  return {
    newCookie: () => randomBytes(32).toString('base64url'),

    /** The same work for everybody, also where there is no account or no cookie. */
    async isKnown(
      tenantId: string,
      userId: string | undefined,
      cookie: string | undefined,
    ): Promise<boolean> {
      const key = { tenantId, userId: userId ?? '', cookieHash: hashOf(tenantId, cookie ?? '') }
      const known = await findKnownDevice(store.read, key, clock.nowMs() - DEVICE_KEPT_MS)
      return known !== undefined
    },

    /** In the change that finishes a sign-in. */
    async remember({ queries, nowMs }: Change, device: SeenDevice): Promise<void> {
      const { tenantId, userId, cookie, userAgent, ip } = device
      await upsertKnownDevice(queries, {
        deviceId: `dev_${randomUUID()}`,
        tenantId,
        userId,
        cookieHash: hashOf(tenantId, cookie),
        userAgent: userAgent.slice(0, LIMITS.userAgentTextMax),
        ip: ip.slice(0, LIMITS.addressTextMax),
        createdAt: nowMs,
        lastSeenAt: nowMs,
      })
    },

    async list(tenantId: string, userId: string): Promise<KnownDevice[]> {
      const rows = await knownDevicesOf(store.read, tenantId, userId, LIMITS.devicesListedMax)
      return rows.map(({ cookieHash: _cookieHash, ...device }) => device)
    },

    /** Whether there was one. The browser is then as good as new. */
    async forget(change: Change, tenantId: string, userId: string, deviceId: string) {
      return deleteKnownDevice(change.queries, tenantId, userId, deviceId)
    },

    async prune(limit: number): Promise<number> {
      return store.change(({ queries, nowMs }) =>
        deleteKnownDevicesSeenBefore(queries, nowMs - DEVICE_KEPT_MS, limit),
      )
    },
  }
}
