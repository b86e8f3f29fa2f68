/**
 * Browsers that have signed in to an account before, known by a cookie that they keep: a token for
 * each account of a realm that the browser is used for, new at each sign-in.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { DAY_MS, MINUTE_MS, type Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { Vault } from '../keys/vault.ts'
import {
  cookieHashesAmong,
  deleteKnownDevice,
  deleteKnownDevicesSeenBefore,
  findKnownDevice,
  insertKnownDevice,
  knownDevicesOf,
  updateKnownDevice,
  type KnownDeviceRow,
} from '../store/queries/devices.ts'
import { pruneWith } from '../store/statements.ts'
import type { Change, Store, TenantChange } from '../store/store.ts'

export const DEVICE_KEPT_MS = 365 * DAY_MS
/** So long a tab that began before another has signed in may show the cookie from before. */
const REPLACED_KEPT_MS = 5 * MINUTE_MS
const TOKEN = /^[\w-]{43}$/

export type KnownDevice = Readonly<
  Omit<KnownDeviceRow, 'cookieHash' | 'replacedHash' | 'replacedAt'>
>
export type Devices = ReturnType<typeof createDevices>

interface SeenDevice {
  readonly tenantId: string
  readonly userId: string
  /** What the browser keeps of earlier sign-ins, one of each account. */
  readonly tokens: readonly string[]
  readonly userAgent: string
  readonly ip: string
}

/** Several cookies of the name may come: one that was planted hides none of ours. */
export function deviceTokensIn(cookies: readonly string[]): string[] {
  const tokens = cookies.flatMap((cookie) => cookie.split('~')).filter((one) => TOKEN.test(one))
  return [...new Set(tokens)].slice(0, 2 * LIMITS.deviceTokensMax)
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
  const hashOf = (tenantId: string, token: string) =>
    vault.hash(`known_devices/${tenantId}/${token}`)

  /** Two tabs that show the same token at the same moment come to the same new one. */
  const nextOf = ({ tenantId, userId }: SeenDevice, token: string) =>
    vault.hash(`known_devices.next/${tenantId}/${userId}/${token}`)

  const since = (nowMs: number) => {
    return { seenMs: nowMs - DEVICE_KEPT_MS, replacedMs: nowMs - REPLACED_KEPT_MS }
  }

  return {
    /** The same work for everybody, also where there is no account or no cookie. */
    async isKnown(
      tenantId: string,
      userId: string | undefined,
      tokens: readonly string[],
    ): Promise<boolean> {
      const asked = tokens.length === 0 ? [''] : tokens
      const hashes = asked.map((token) => hashOf(tenantId, token))
      const key = { tenantId, userId: userId ?? '', hashes }
      return (await findKnownDevice(store.read, key, since(clock.nowMs()))) !== undefined
    },

    /** Of several accounts of a browser, always the same one. */
    async firstOwner(tenantId: string, tokens: readonly string[]): Promise<string | undefined> {
      const hashes = tokens.map((token) => hashOf(tenantId, token))
      const owners = await cookieHashesAmong(store.read, tenantId, hashes)
      return owners.map(({ userId }) => userId).sort()[0]
    },

    /**
     * In the change that finishes a sign-in; the answer is the browser's new cookie. What it showed
     * is worth nothing from then on, so that a copy is not, and what somebody else has put there
     * never becomes a known browser of this account.
     */
    async renew({ queries, nowMs }: TenantChange, seen: SeenDevice): Promise<string> {
      const { tenantId, userId, tokens } = seen
      const byHash = new Map(tokens.map((token) => [hashOf(tenantId, token), token]))
      const hashes = [...byHash.keys()]
      const known = await findKnownDevice(queries, { tenantId, userId, hashes }, since(nowMs))
      const isOfNow = known !== undefined && byHash.has(known.cookieHash)
      const shown = byHash.get((isOfNow ? known.cookieHash : known?.replacedHash) ?? '')
      const token =
        shown === undefined ? randomBytes(32).toString('base64url') : nextOf(seen, shown)
      const facts = {
        cookieHash: hashOf(tenantId, token),
        userAgent: seen.userAgent.slice(0, LIMITS.userAgentTextMax),
        ip: seen.ip.slice(0, LIMITS.addressTextMax),
        lastSeenAt: nowMs,
      }
      if (known === undefined) {
        const deviceId = `dev_${randomUUID()}`
        const none = { replacedHash: null, replacedAt: null }
        const row = { deviceId, tenantId, userId, createdAt: nowMs, ...none, ...facts }
        await insertKnownDevice(queries, row)
      } else {
        const replaced = isOfNow ? { replacedHash: known.cookieHash, replacedAt: nowMs } : {}
        await updateKnownDevice(queries, known.deviceId, { ...facts, ...replaced })
      }
      const others = await cookieHashesAmong(queries, tenantId, hashes)
      const kept = others.filter((one) => one.userId !== userId)
      const ofOthers = new Set(kept.flatMap(({ cookieHash }) => byHash.get(cookieHash) ?? []))
      return [token, ...ofOthers].slice(0, LIMITS.deviceTokensMax).join('~')
    },

    async list(tenantId: string, userId: string): Promise<KnownDevice[]> {
      const rows = await knownDevicesOf(store.read, tenantId, userId, LIMITS.devicesListedMax)
      return rows.map(
        ({ cookieHash: _now, replacedHash: _before, replacedAt: _when, ...device }) => device,
      )
    },

    /** Whether there was one. The browser is then as good as new. */
    async forget(change: Change, tenantId: string, userId: string, deviceId: string) {
      return deleteKnownDevice(change.queries, tenantId, userId, deviceId)
    },

    prune: pruneWith(store, deleteKnownDevicesSeenBefore, DEVICE_KEPT_MS),
  }
}
