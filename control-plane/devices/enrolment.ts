/** How a machine becomes a device: by a ticket, with a key that it has made for this and keeps. */
import { createHash, randomBytes } from 'node:crypto'
import type * as v from 'valibot'
import type { Clock } from '../../shared/clock.ts'
import {
  DEVICE_MESSAGES,
  EnrolSchema,
  type Enrol,
  type EnrolAnswer,
} from '../../shared/device/messages.ts'
import { Refusal } from '../../shared/errors.ts'
import { issuerOf } from '../../shared/issuer.ts'
import { LIMITS } from '../../shared/limits.ts'
import {
  countDevices,
  countDevicesOf,
  devicesByKey,
  insertDevice,
  updateDevice,
  type DeviceRow,
} from '../store/queries/enrolled-devices.ts'
import { requireTenant } from '../store/queries/tenants.ts'
import type { Queries } from '../store/engine.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import type { ChallengeKeys } from './challenge-keys.ts'
import { stateOf } from './enrolled-device.ts'
import { isUnused, newChain } from './ratchet.ts'
import { readSelfSigned } from './signed-message.ts'
import { isFromNetwork, type DeviceTicket, type DeviceTickets } from './tickets.ts'

export interface From {
  readonly address: string
  readonly requestId: string
}

interface EnrolmentWorld {
  readonly store: Store
  readonly clock: Clock
  readonly baseUrl: string
  readonly deviceTickets: Pick<DeviceTickets, 'find' | 'spend'>
  readonly challengeKeys: Pick<ChallengeKeys, 'jwks'>
}

interface Asked {
  readonly ticket: DeviceTicket
  /** Whose answer was lost. */
  readonly before: DeviceRow | undefined
}

/** What the next message has to give back, and what is kept of it. */
export function makeNext() {
  const next = randomBytes(32).toString('base64url')
  return { next, hash: chainHash(next) }
}

export const chainHash = (next: string) => createHash('sha256').update(next).digest('base64url')

export const actorOf = (deviceId: string, { requestId }: From): Actor => ({
  name: `device:${deviceId}`,
  requestId,
})

export function createEnrolment(world: EnrolmentWorld) {
  const { store, clock, baseUrl, deviceTickets, challengeKeys } = world

  /** Unknown, used up, expired and for another platform or network are told the same. */
  async function require(queries: Queries, secret: string, from: From): Promise<DeviceTicket> {
    const ticket = await deviceTickets.find(queries, secret)
    if (ticket === undefined || !isFromNetwork(ticket, from.address))
      throw new Refusal('device_ticket_invalid')
    return ticket
  }

  async function requireFor(
    queries: Queries,
    secret: string,
    from: From,
    { platform }: Enrol,
    publicKey: string,
  ): Promise<Asked> {
    const ticket = await require(queries, secret, from)
    if (ticket.platform !== platform) throw new Refusal('device_ticket_invalid')
    const before = await enrolledBefore(queries, ticket, publicKey)
    if (before === undefined && ticket.usesLeft === 0) throw new Refusal('device_ticket_invalid')
    return { ticket, before }
  }

  /** One whose answer was lost asks again with the same key, and costs the ticket nothing. */
  async function enrolledBefore(queries: Queries, { ticketId }: DeviceTicket, publicKey: string) {
    const [row] = await devicesByKey(queries, ticketId, publicKey, 1)
    if (row === undefined) return undefined
    const isLate = clock.nowMs() - row.enrolledAt > LIMITS.deviceEnrolAgainMs
    if (isLate || row.revokedAt !== null || !isUnused(row))
      throw new Refusal('device_ticket_invalid')
    return row
  }

  async function admit(
    change: Change,
    ticket: DeviceTicket,
    publicKey: string,
    said: Enrol,
    from: From,
    nextHash: string,
  ): Promise<DeviceRow> {
    const { queries, nowMs } = change
    const { tenantId, ticketId, userId, network } = ticket
    await requireTenant(queries, tenantId)
    if ((await countDevices(queries, tenantId)) >= LIMITS.devicesPerTenantMax)
      throw new Refusal('devices_full')
    if (userId !== null) await requireRoom(queries, tenantId, userId)
    await deviceTickets.spend(change, ticket)
    const { platform, arch, hostname, agent } = said
    const { key_storage: keyStorage, machine_hash: machineHash, rid } = said
    const deviceId = `dev_${randomBytes(8).toString('hex')}`
    const row: DeviceRow = {
      ...{ deviceId, tenantId, ticketId, userId, publicKey, network },
      ...{ platform, arch, hostname, agent, keyStorage, machineHash },
      ...{ enrolledAt: nowMs, seenAt: nowMs },
      ...{ approvedAt: null, suspectedAt: null, suspicion: null, revokedAt: null },
      ...newChain(nextHash),
      ...{ postureHash: null, collectedAt: null },
    }
    await insertDevice(queries, row)
    const content = {
      ...{ device_id: deviceId, hostname, platform, ticket_id: ticketId },
      ...(userId !== null && { user_id: userId }),
      ...(rid !== undefined && { rid }),
    }
    await change.audit(actorOf(deviceId, from), { action: 'device.enrolled', tenantId, content })
    return row
  }

  return async (
    secret: string,
    jws: string,
    from: From,
  ): Promise<v.InferOutput<typeof EnrolAnswer>> => {
    // nothing is written, and no signature looked at, for a ticket that is none
    await require(store.read, secret, from)
    const read = readSelfSigned(jws, DEVICE_MESSAGES.enrol, EnrolSchema)
    if (read === undefined) throw new Refusal('device_refused')
    const { publicKey, content } = read
    await requireFor(store.read, secret, from, content, publicKey)
    const { next, hash } = makeNext()
    const row = await store.change(async (change) => {
      const asked = await requireFor(change.queries, secret, from, content, publicKey)
      const { ticket, before } = asked
      if (before === undefined) return admit(change, ticket, publicKey, content, from, hash)
      // which of both answers arrives is not known
      await updateDevice(change.queries, before.deviceId, { otherHash: hash })
      return before
    })
    return {
      device_id: row.deviceId,
      tenant_id: row.tenantId,
      state: stateOf(row),
      origin: new URL(baseUrl).origin,
      confirm: `${issuerOf(baseUrl, row.tenantId)}/device/confirm`,
      challenge_jwks: await challengeKeys.jwks(),
      poll_s: LIMITS.deviceCheckInSeconds,
      next,
    }
  }
}

/** One person's machines are bounded as well. */
export async function hasRoom(queries: Queries, tenantId: string, userId: string) {
  return (await countDevicesOf(queries, tenantId, userId)) < LIMITS.devicesPerPersonMax
}

export async function requireRoom(queries: Queries, tenantId: string, userId: string) {
  if (!(await hasRoom(queries, tenantId, userId)))
    throw new Refusal('devices_full', {}, 'This person has the maximum number of devices.')
}
