/**
 * Mails commit with the change that they tell of, sealed, since they hold links that open accounts.
 * They are handed on behind the commit, and again later when the mail server is away: several at a
 * time, one of each tenant in turn, and of a tenant's first those that somebody waits for.
 */
import { PURPOSES } from '../keys/sealed-columns.ts'
import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { MINUTE_MS, type Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { Vault } from '../keys/vault.ts'
import { createDueRotation } from '../concurrency/due-rotation.ts'
import { bringMailsBack } from '../store/queries/ahead-of-time.ts'
import {
  claimMail,
  deleteMail,
  insertMail,
  nextDueMail,
  tenantsWithDueMails,
  type MailRow,
} from '../store/queries/mails.ts'
import { findTicket } from '../store/queries/tickets.ts'
import type { Store, TenantChange } from '../store/store.ts'

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
  /** Where a mail program sends its own unsubscribe button (RFC 8058): one POST ends it. */
  readonly unsubscribe?: string
}

interface MailTurn {
  /** When the mail's turn is; without it now. */
  readonly sentAt?: number
}

/** Of the link in a mail. */
interface MailedLink extends MailTurn {
  /** When it is dead: who asked for it waits for the mail. */
  readonly expiresAt: number
  /** Where it is of a ticket: what has been voided meanwhile is not sent. */
  readonly ticketHash?: string
}

/** As it lies in the store, sealed. */
type KeptMail = Mail & Pick<MailedLink, 'ticketHash'>

/** Hands a mail to whoever brings it on; rejects when that has to be tried again. */
export interface MailTransport {
  send(mail: Mail & { readonly at: number }): Promise<void>
  close(): void
}

export type Mails = ReturnType<typeof createMails>

/** How long after each failure; behind the last the mail is given up, which the log says. */
const PAUSES_MS = [1, 5, 15, 60, 240, 720].map((minutes) => minutes * MINUTE_MS)
/** Within it whoever has claimed a mail has sent it, or died. */
const CLAIM_MS = LIMITS.mailSendMsMax + MINUTE_MS
/** So much life of a link is left for whoever reads the mail. */
const LINK_MS_MIN = 5 * MINUTE_MS

interface MailsWorld {
  readonly store: Store
  readonly vault: Vault
  readonly transport: MailTransport
  readonly clock: Clock
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
}

export function createMails({ store, vault, transport, clock, log }: MailsWorld) {
  const rotation = createDueRotation<MailRow>({
    underWayMax: LIMITS.mailSendsMax,
    underWayMaxOf: () => LIMITS.mailSendsPerTenantMax,
    async tenantsWithDue() {
      await bringMailsBack(store, clock.nowMs())
      return tenantsWithDueMails(store.read, clock.nowMs())
    },
    nextOf: (tenantId) => nextDueMail(store.read, tenantId, clock.nowMs()),
    claim,
    onError: (error) => log.error({ error }, 'mails wait for the next round'),
  })

  async function claim(row: MailRow) {
    if (isLinkOver(row)) return giveUpLink(row)
    const writtenAt = clock.nowMs()
    const lease = { attempts: row.attempts + 1, nextAt: writtenAt + CLAIM_MS, writtenAt }
    const isOurs = await store.change(({ queries }) =>
      claimMail(queries, row.mailId, row.nextAt, lease),
    )
    return isOurs ? () => deliverOne({ ...row, ...lease }) : undefined
  }

  const isLinkOver = ({ expiresAt }: MailRow) =>
    expiresAt !== null && expiresAt - LINK_MS_MIN <= clock.nowMs()

  async function giveUpLink({ mailId, tenantId }: MailRow): Promise<undefined> {
    log.warn({ tenant_id: tenantId, mail_id: mailId }, 'mail given up: its link is too old by now')
    await store.change(({ queries }) => deleteMail(queries, mailId))
  }

  /** Its person is gone, or disabled, or has come in by another one. */
  async function isVoid(ticketHash: string): Promise<boolean> {
    const ticket = await findTicket(store.read, ticketHash)
    return ticket === undefined || ticket.usedAt !== null
  }

  async function giveUpVoid({ mailId, tenantId }: MailRow): Promise<void> {
    log.info({ tenant_id: tenantId, mail_id: mailId }, 'mail not sent: its link is void by now')
    await store.change(({ queries }) => deleteMail(queries, mailId))
  }

  async function deliverOne(row: MailRow) {
    const { mailId, tenantId } = row
    // a process that stood still has what is another one's by now
    if (row.nextAt <= clock.nowMs()) return
    try {
      const kept = JSON.parse(vault.open(row.contentSealed, PURPOSES.mail({ mailId }))) as KeptMail
      const { ticketHash, ...mail } = kept
      if (ticketHash !== undefined && (await isVoid(ticketHash))) return await giveUpVoid(row)
      await transport.send({ ...mail, at: row.createdAt })
    } catch (error) {
      return failed(row, error)
    }
    await store.change(({ queries }) => deleteMail(queries, mailId))
    log.info({ tenant_id: tenantId, mail_id: mailId }, 'mail handed on')
  }

  /** What a mail server says may repeat the address, but nothing of the text. */
  async function failed(row: MailRow, error: unknown) {
    const { mailId, tenantId, attempts } = row
    const pauseMs = PAUSES_MS[attempts - 1]
    const problem = error instanceof Error ? error.message : String(error)
    log.warn({ tenant_id: tenantId, mail_id: mailId, attempts, problem }, 'mail not handed on')
    if (pauseMs === undefined)
      log.error({ tenant_id: tenantId, mail_id: mailId }, 'mail given up: check the mail server')
    await store.change(async ({ queries }) => {
      if (pauseMs === undefined) return deleteMail(queries, mailId)
      const writtenAt = clock.nowMs()
      const later = { attempts, nextAt: writtenAt + pauseMs, writtenAt }
      await claimMail(queries, row.mailId, row.nextAt, later)
    })
  }

  return {
    async queue(
      change: TenantChange,
      tenantId: string,
      mail: Mail,
      more: MailedLink | MailTurn = {},
    ): Promise<void> {
      const mailId = randomUUID()
      const link = 'expiresAt' in more ? more : undefined
      const { sentAt = change.nowMs } = more
      const ticketHash = link?.ticketHash
      const kept: KeptMail = { ...mail, ...(ticketHash !== undefined && { ticketHash }) }
      await insertMail(change.queries, {
        mailId,
        tenantId,
        contentSealed: vault.seal(JSON.stringify(kept), PURPOSES.mail({ mailId })),
        attempts: 0,
        createdAt: sentAt, // which is the date in the mail
        nextAt: sentAt,
        kind: link === undefined ? 'notice' : 'link',
        expiresAt: link?.expiresAt ?? null,
        writtenAt: change.nowMs,
      })
    },

    /** Everything that is due. */
    deliver: (): Promise<void> => rotation.deliver(),

    async close(): Promise<void> {
      await rotation.close()
      transport.close()
    },
  }
}
