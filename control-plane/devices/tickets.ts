/** What a device enrolls with: shown once, found by its hash, good for so many uses and a while. */
import { randomBytes } from 'node:crypto'
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import type { DevicePlatform } from '../../shared/device/facts.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { networkList } from '../../shared/networks.ts'
import type { Vault } from '../keys/vault.ts'
import {
  deleteDeviceTicket,
  deleteDeviceTicketsBefore,
  deviceTicketsOf,
  findDeviceTicket,
  insertDeviceTicket,
  updateDeviceTicket,
  type DeviceTicketRow,
} from '../store/queries/device-tickets.ts'
import { findTenant } from '../store/queries/tenants.ts'
import { findUser } from '../store/queries/users.ts'
import type { Queries } from '../store/engine.ts'
import { pruneWith } from '../store/statements.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { found } from '../tenants/alter.ts'

export type DeviceTicket = Readonly<Omit<DeviceTicketRow, 'ticketHash' | 'madeBy'>>

interface NewDeviceTicket {
  readonly platform: DevicePlatform
  readonly uses: number
  readonly expiresIn: number
  /** Whose the devices will be. */
  readonly userId?: string | undefined
  /** From where alone it can be used. */
  readonly network?: string | undefined
}

/** Found by search engines for secrets, and told from other keys by people. */
const PREFIX = 'sdt_'

export type DeviceTickets = ReturnType<typeof createDeviceTickets>

export function createDeviceTickets(world: { store: Store; vault: Vault; clock: Clock }) {
  const { store, vault, clock } = world
  const hashOf = (ticket: string) => vault.hash(`device_tickets/${ticket}`)

  /** Used up or not: undefined for one that never was, or has expired. */
  async function find(queries: Queries, ticket: string): Promise<DeviceTicket | undefined> {
    const row = await findDeviceTicket(queries, hashOf(ticket))
    return row !== undefined && row.expiresAt > clock.nowMs() ? row : undefined
  }

  return {
    async make(tenantId: string, asked: NewDeviceTicket, actor: Actor) {
      const ticket = PREFIX + randomBytes(32).toString('base64url')
      const ticketId = `dvt_${randomBytes(8).toString('hex')}`
      const { platform, uses, expiresIn, userId = null, network = null } = asked
      return store.change(async (change) => {
        const { queries, nowMs } = change
        found(await findTenant(queries, tenantId))
        if (userId !== null && (await findUser(queries, tenantId, userId)) === undefined)
          throw new Refusal('user_not_found', { field: 'user_id' })
        const all = await deviceTicketsOf(queries, tenantId)
        if (all.filter(isUsable(nowMs)).length >= LIMITS.deviceTicketsPerTenantMax)
          throw new Refusal('device_tickets_full')
        const times = { createdAt: nowMs, expiresAt: nowMs + expiresIn * SECOND_MS }
        const made = { ticketId, tenantId, platform, uses, usesLeft: uses, userId, network }
        const kept = { ...made, ...times, ticketHash: hashOf(ticket), madeBy: actor.id ?? '' }
        await insertDeviceTicket(queries, kept)
        const content = {
          ...{ ticket_id: ticketId, platform, uses, expires_in: expiresIn },
          ...(userId !== null && { user_id: userId }),
          ...(network !== null && { network }),
        }
        await change.audit(actor, { action: 'device_ticket.created', tenantId, content })
        return { ...made, ...times, ticket }
      })
    },

    /** Those that are good for something still, the oldest first. */
    async list(tenantId: string): Promise<DeviceTicket[]> {
      found(await findTenant(store.read, tenantId))
      return (await deviceTicketsOf(store.read, tenantId)).filter(isUsable(clock.nowMs()))
    },

    async remove(tenantId: string, ticketId: string, actor: Actor): Promise<void> {
      await store.change(async (change) => {
        found(await findTenant(change.queries, tenantId))
        if (!(await deleteDeviceTicket(change.queries, tenantId, ticketId)))
          throw new Refusal('device_ticket_not_found')
        const content = { ticket_id: ticketId }
        await change.audit(actor, { action: 'device_ticket.deleted', tenantId, content })
      })
    },

    find,

    /** For whom a script may be fetched: looking at it does not use it up. */
    async usable(ticket: string, platform: DevicePlatform): Promise<DeviceTicket | undefined> {
      const row = await find(store.read, ticket)
      return row?.platform === platform && row.usesLeft > 0 ? row : undefined
    },

    spend: ({ queries }: Change, { ticketId, usesLeft }: DeviceTicket) =>
      updateDeviceTicket(queries, ticketId, { usesLeft: usesLeft - 1 }),

    prune: pruneWith(store, deleteDeviceTicketsBefore, 0),
  }
}

/** Who comes from nowhere that can be read does not come from a network. */
export const isFromNetwork = ({ network }: Pick<DeviceTicket, 'network'>, from: string): boolean =>
  network === null || networkList([network])(from)

const isUsable =
  (nowMs: number) =>
  ({ usesLeft, expiresAt }: DeviceTicket) =>
    usesLeft > 0 && expiresAt > nowMs
