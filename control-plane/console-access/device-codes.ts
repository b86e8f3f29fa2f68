/**
 * A command line tool gets a tenant's analyzer key without anybody pasting it (RFC 8628 in spirit):
 * it asks for a code, somebody allows it in the console, and it comes for the key, once. What the
 * tool says of itself are a stranger's words (.docs/decisions/0040-sign-in-with-a-code.md).
 */
import { randomBytes } from 'node:crypto'
import { countedAs, countedWidelyAs } from '../../shared/client-address.ts'
import { SECOND_MS } from '../../shared/clock.ts'
import { Refusal, type ErrorCode } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { rolesOf } from '../store/queries/console.ts'
import {
  answerDeviceCode,
  deleteDeviceCode,
  deleteDeviceCodesBefore,
  deviceCodesOfNetwork,
  deviceCodesOfSite,
  deviceCodesOpen,
  findDeviceCode,
  findDeviceCodeByUserCode,
  insertDeviceCode,
  updateDeviceCode,
  type DeviceCodeRow,
} from '../store/queries/device-codes.ts'
import { takeRate, waitOfRate } from '../store/queries/rates.ts'
import { notBeforeOf } from '../store/queries/revocations.ts'
import { findUser } from '../store/queries/users.ts'
import { CONSOLE_REALM } from '../store/reserved.ts'
import type { Queries } from '../store/engine.ts'
import type { Actor, Change } from '../store/store.ts'
import { handOut, type HandedOut } from '../tenants/hand-out.ts'
import { mayChange, requireListed, rolesFrom } from './roles.ts'
import { newUserCode, readUserCode } from '../keys/user-code.ts'
import type { ConsoleAccessWorld } from './world.ts'

/** Where somebody allows it. */
export const DEVICE_PATH = '/console/device'

interface Asked {
  /** '' where it does not say. */
  readonly machine: string
  readonly application: string
  readonly address: string
}

/** What a page shows of it. */
export interface DeviceRequest extends Asked {
  readonly userCode: string
  readonly requestedAtMs: number
  readonly expiresAtMs: number
}

interface Allowed {
  readonly tenantId: string
  readonly handsSecret: boolean
}

/** Who, and in which session of the realm. */
interface AllowedBy {
  readonly userId: string
  readonly sid: string
}

type Polled =
  | { readonly kind: 'handed_out'; readonly handedOut: HandedOut }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly interval?: number }

/** A timer may ring early by so much, and a request overtake another one. */
const JITTER_MS = 200

export function createDeviceCodes(world: ConsoleAccessWorld) {
  const { store, vault, clock } = world
  const hashOf = (kind: 'device' | 'user', code: string) =>
    vault.hash(`device_codes/${kind}/${code}`)

  async function waiting(queries: Queries, typed: string, nowMs: number) {
    const userCode = readUserCode(typed)
    if (userCode === undefined) return undefined
    const row = await findDeviceCodeByUserCode(queries, hashOf('user', userCode))
    if (row?.state !== 'open' || row.expiresAt <= nowMs) return undefined
    return { row, userCode }
  }

  async function requireWaiting({ queries, nowMs }: Change, typed: string) {
    const found = await waiting(queries, typed, nowMs)
    if (found === undefined) throw new Refusal('device_code_not_found')
    return found.row
  }

  async function usable(queries: Queries, deviceCode: string, nowMs: number) {
    const row = await findDeviceCode(queries, hashOf('device', deviceCode))
    return row === undefined || row.expiresAt <= nowMs ? undefined : row
  }

  /** Nothing that this change has written may be lost, so a refusal is no exception here. */
  async function poll(
    change: Change,
    deviceCode: string,
    { address, requestId }: { readonly address: string; readonly requestId: string },
  ): Promise<Polled> {
    const { queries, nowMs } = change
    const row = await usable(queries, deviceCode, nowMs)
    if (row === undefined) return refused('expired_token')
    const interval = intervalNow(row, nowMs)
    await updateDeviceCode(queries, row.deviceHash, { polledAt: nowMs, intervalSeconds: interval })
    if (isEarly(row, nowMs)) return { ...refused('slow_down'), interval }
    if (row.state === 'open') return refused('authorization_pending')
    if (row.state === 'denied') return refused('access_denied')
    const handedOut = await handOutTo(change, row, address, requestId)
    if (handedOut === undefined) {
      await updateDeviceCode(queries, row.deviceHash, { state: 'denied' })
      return refused('access_denied')
    }
    await deleteDeviceCode(queries, row.deviceHash)
    return { kind: 'handed_out', handedOut }
  }

  /**
   * What was allowed is judged anew: whoever has allowed it may have lost the right since, and it may
   * have been a thief in their session, which was ended.
   */
  async function handOutTo(
    change: Change,
    row: DeviceCodeRow,
    deliveredTo: string,
    requestId: string,
  ): Promise<HandedOut | undefined> {
    const { tenantId, allowedBy, handsSecret, allowedAt } = row
    if (tenantId === null || allowedBy === null) return undefined
    const notBefore = await notBeforeOf(change.queries, CONSOLE_REALM, allowedBy)
    if ((allowedAt ?? row.createdAt) < notBefore * SECOND_MS) return undefined
    const person = await findUser(change.queries, CONSOLE_REALM, allowedBy)
    if (person === undefined || person.isDisabled) return undefined
    if (!mayChange(rolesFrom(await rolesOf(change.queries, allowedBy)), tenantId)) return undefined
    const handedOut = await handOut(change, vault, tenantId, handsSecret)
    if (handedOut === undefined) return undefined
    const actor = { name: `console:${person.email}`, id: allowedBy, requestId }
    const content = {
      ...told(row),
      delivered_to: deliveredTo,
      client_secret: handedOut.clientSecret !== undefined,
    }
    await change.audit(actor, { action: 'analyzer_key.handed_out', tenantId, content })
    return handedOut
  }

  return {
    async open(asked: Asked): Promise<{ readonly deviceCode: string; readonly userCode: string }> {
      const deviceCode = `sdc_${randomBytes(32).toString('base64url')}`
      const userCode = newUserCode()
      await store.change(async ({ queries, nowMs }) => {
        const network = countedAs(asked.address)
        const site = countedWidelyAs(asked.address)
        await requireRoom(queries, nowMs, network, site)
        await insertDeviceCode(queries, {
          ...asked,
          deviceHash: hashOf('device', deviceCode),
          userCodeHash: hashOf('user', userCode),
          network,
          site,
          createdAt: nowMs,
          expiresAt: nowMs + LIMITS.deviceCodeMs,
          polledAt: null,
          intervalSeconds: LIMITS.deviceCodeIntervalSeconds,
          state: 'open',
          tenantId: null,
          allowedBy: null,
          handsSecret: false,
          allowedAt: null,
          allowedIn: null,
        })
      })
      return { deviceCode, userCode }
    },

    /** The key, once; before that and after it a refusal that says how things are. */
    async redeem(
      deviceCode: string,
      asked: { readonly address: string; readonly requestId: string },
    ): Promise<HandedOut> {
      // whoever makes up codes gets no turn with the writer
      if ((await usable(store.read, deviceCode, clock.nowMs())) === undefined)
        throw new Refusal('expired_token')
      const polled = await store.change((change) => poll(change, deviceCode, asked))
      if (polled.kind === 'handed_out') return polled.handedOut
      const { code, interval } = polled
      throw new Refusal(code, interval === undefined ? {} : { interval })
    },

    /**
     * One that waits for an answer, and nothing of any other. Only a code that nobody has costs one
     * of the guesses that the person has, one after the other, however many they send at once.
     */
    async look(typed: string, userId: string): Promise<DeviceRequest | undefined> {
      const found = await store.changeOf(CONSOLE_REALM, async (change) => {
        const { queries, nowMs } = change
        const guesses = { kind: 'device codes', key: userId, rate: LIMITS.rateDeviceCodeGuesses }
        const wait = await waitOfRate(queries, guesses, nowMs)
        if (wait !== undefined) throw tooManyGuesses(wait)
        const found = await waiting(queries, typed, nowMs)
        if (found === undefined && readUserCode(typed) !== undefined)
          await takeRate(change, guesses)
        return found
      })
      if (found === undefined) return undefined
      const { userCode, row } = found
      const { machine, application, address, createdAt, expiresAt } = row
      const times = { requestedAtMs: createdAt, expiresAtMs: expiresAt }
      return { userCode, machine, application, address, ...times }
    },

    async allow(typed: string, allowed: Allowed, by: AllowedBy, actor: Actor): Promise<void> {
      const { userId, sid } = by
      await store.change(async (change) => {
        const { queries } = change
        const row = await requireWaiting(change, typed)
        const { tenantId, handsSecret } = allowed
        const roles = rolesFrom(await rolesOf(queries, userId))
        if (!roles.isOperator && !roles.tenantIds.includes(tenantId)) throw notFound()
        await requireListed(queries, tenantId).catch(() => Promise.reject(notFound()))
        if (!mayChange(roles, tenantId)) throw new Refusal('role_read_only')
        const answer = { state: 'allowed', tenantId, allowedBy: userId, handsSecret } as const
        const given = { ...answer, allowedAt: change.nowMs, allowedIn: sid }
        await answerDeviceCode(queries, row.deviceHash, 'open', given)
        const content = { ...told(row), client_secret: handsSecret }
        await change.audit(actor, { action: 'analyzer_key.allowed', tenantId, content })
      })
    },

    async deny(typed: string, actor: Actor): Promise<void> {
      await store.change(async (change) => {
        const row = await requireWaiting(change, typed)
        await answerDeviceCode(change.queries, row.deviceHash, 'open', { state: 'denied' })
        await change.audit(actor, { action: 'device_code.denied', content: told(row) })
      })
    },

    prune: (limit: number): Promise<number> =>
      store.change(({ queries, nowMs }) => deleteDeviceCodesBefore(queries, nowMs, limit)),
  }
}

function tooManyGuesses(wait: number): Refusal {
  const when = wait === 1 ? 'a second' : `${wait} seconds`
  const detail = `That was too many wrong codes. Wait ${when}, then enter the code from your terminal.`
  return new Refusal('rate_limited', { retry_after: wait }, detail)
}

const refused = (code: ErrorCode) => ({ kind: 'refused', code }) as const

const notFound = () =>
  new Refusal('tenant_not_found', { field: 'tenant_id' }, 'Choose a tenant that you administer.')

const isEarly = ({ polledAt, intervalSeconds }: DeviceCodeRow, nowMs: number) =>
  polledAt !== null && nowMs - polledAt < intervalSeconds * SECOND_MS - JITTER_MS

function intervalNow(row: DeviceCodeRow, nowMs: number): number {
  if (!isEarly(row, nowMs)) return row.intervalSeconds
  const { deviceCodeSlowDownSeconds, deviceCodeIntervalSecondsMax } = LIMITS
  return Math.min(row.intervalSeconds + deviceCodeSlowDownSeconds, deviceCodeIntervalSecondsMax)
}

/** For the audit trail. */
const told = ({ machine, application, address }: DeviceCodeRow) => ({
  machine,
  application,
  requested_from: address,
})

/** Whoever holds many keeps nobody out who holds none. */
async function requireRoom(queries: Queries, nowMs: number, network: string, site: string) {
  const { deviceCodesOpenMax, deviceCodesForOthers } = LIMITS
  const ofNetwork = await deviceCodesOfNetwork(queries, nowMs, network)
  const most = deviceCodesOpenMax - (ofNetwork.open === 0 ? 0 : deviceCodesForOthers)
  const counts = [
    [ofNetwork, LIMITS.deviceCodesPerAddressMax],
    [await deviceCodesOfSite(queries, nowMs, site), LIMITS.deviceCodesPerSiteMax],
    [await deviceCodesOpen(queries, nowMs), most],
  ] as const
  for (const [{ open, firstEndsMs }, most] of counts)
    if (open >= most) {
      const retryAfter = Math.max(1, Math.ceil((firstEndsMs - nowMs) / SECOND_MS))
      throw new Refusal('rate_limited', { retry_after: retryAfter }, FULL)
    }
}

const FULL =
  'Too many command-line tools are waiting to be allowed. Wait before you try again, or use the analyzer key.'
