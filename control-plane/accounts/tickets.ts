/**
 * Links in mails: a secret that is found by its hash, good for one use and for a while. Opening
 * the link uses nothing up, since programs that look for malware open links too.
 */
import { PURPOSES } from '../keys/sealed-columns.ts'
import { randomBytes } from 'node:crypto'
import { HOUR_MS, type Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { Vault } from '../keys/vault.ts'
import {
  countTicketsSince,
  deleteTicketsExpiredBefore,
  findTicket,
  insertTicket,
  spendTicket,
  spendTickets,
  type TicketRow,
} from '../store/queries/tickets.ts'
import { pruneWith } from '../store/statements.ts'
import type { Store, TenantChange } from '../store/store.ts'

export type TicketPurpose = TicketRow['purpose']

const LIVES_MS: Readonly<Record<TicketPurpose, number>> = {
  invite: 7 * 24 * HOUR_MS,
  reset: HOUR_MS,
  email: 24 * HOUR_MS,
  sign_in: LIMITS.signInMailMsMax,
  sign_up: LIMITS.signInMailMsMax,
}
/** So many mails of one kind a person gets within an hour, whoever asks for them. */
const PER_HOUR_MAX = 3

/** For a link; found by its hash. */
export const newTicketSecret = (): string => randomBytes(24).toString('base64url')

interface Ticket {
  /** Whose; of a sign-up, where there is nobody yet, the sign-in that has asked. */
  readonly userId: string
  /** What the link is about besides: the new address of an `email` ticket, and who asked for it. */
  readonly content: string
  readonly askedAtMs: number
}

interface Issued {
  /** For the link. */
  readonly secret: string
  readonly ticketHash: string
  readonly expiresAt: number
}

export type Tickets = ReturnType<typeof createTickets>

export function createTickets(world: { store: Store; vault: Vault; clock: Clock }) {
  const { store, vault, clock } = world

  return {
    /** Undefined where the person has been sent enough of them. */
    async issue(
      change: TenantChange,
      ticket: {
        readonly tenantId: string
        readonly userId: string
        readonly purpose: TicketPurpose
        readonly content?: string
        /** When it is sent; without it now. */
        readonly sentAt?: number
        /** Where it was made before anybody was looked for. */
        readonly secret?: string
      },
    ): Promise<Issued | undefined> {
      const { queries, nowMs } = change
      const { tenantId, userId, purpose, content = '', sentAt = nowMs } = ticket
      const { secret = newTicketSecret() } = ticket
      const sinceMs = nowMs - HOUR_MS
      const sent = await countTicketsSince(queries, tenantId, userId, purpose, sinceMs)
      // how often people sign in or up is bounded by rates of their own (`sign-in-mail.ts`)
      if (purpose !== 'sign_in' && purpose !== 'sign_up' && sent >= PER_HOUR_MAX) return undefined
      const expiresAt = sentAt + LIVES_MS[purpose]
      const ticketHash = vault.hash(secret)
      await insertTicket(queries, {
        ticketHash,
        tenantId,
        userId,
        purpose,
        contentSealed: vault.seal(content, PURPOSES.ticket({ ticketHash })),
        createdAt: nowMs,
        expiresAt,
        usedAt: null,
      })
      return { secret, ticketHash, expiresAt }
    },

    /** Whom and what the link is for, if it is still good. */
    async look(tenantId: string, purpose: TicketPurpose, secret: string) {
      return open(
        await findTicket(store.read, vault.hash(secret)),
        tenantId,
        purpose,
        clock.nowMs(),
      )
    },

    /**
     * Uses it up, and with it every other link of its kind that the person was sent. Of fifty at
     * once one gets it: changes wait for each other.
     */
    spend: (
      change: TenantChange,
      tenantId: string,
      purpose: TicketPurpose,
      secret: string,
    ): Promise<Ticket | undefined> => spendHashed(change, tenantId, purpose, vault.hash(secret)),

    /** The same, of who has shown something else that belongs to it. */
    spendHashed,
    hashOf: (secret: string): string => vault.hash(secret),

    /** One that is replaced: a mail that has not gone out yet is not sent. */
    async voidOne({ queries, nowMs }: TenantChange, ticketHash: string): Promise<void> {
      await spendTicket(queries, ticketHash, nowMs)
    },

    prune: pruneWith(store, deleteTicketsExpiredBefore, 0),
  }

  async function spendHashed(
    { queries, nowMs }: TenantChange,
    tenantId: string,
    purpose: TicketPurpose,
    ticketHash: string,
  ): Promise<Ticket | undefined> {
    const ticket = open(await findTicket(queries, ticketHash), tenantId, purpose, nowMs)
    if (ticket === undefined) return undefined
    await spendTickets(queries, tenantId, ticket.userId, purpose, nowMs)
    return ticket
  }

  function open(
    row: TicketRow | undefined,
    tenantId: string,
    purpose: TicketPurpose,
    nowMs: number,
  ): Ticket | undefined {
    if (row?.tenantId !== tenantId || row.purpose !== purpose) return undefined
    if (row.usedAt !== null || row.expiresAt <= nowMs) return undefined
    const { userId, ticketHash, contentSealed, createdAt: askedAtMs } = row
    const content = vault.open(contentSealed, PURPOSES.ticket({ ticketHash }))
    return { userId, content, askedAtMs }
  }
}
