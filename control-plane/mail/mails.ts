/**
 * Mails commit with the change that they tell of, sealed, since they hold links that open accounts.
 * They are handed on behind the commit, and again later when the mail server is away.
 */
import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { MINUTE_MS, type Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { Vault } from '../keys/vault.ts'
import { createRounds } from '../rounds.ts'
import {
  claimMail,
  deleteMail,
  dueMails,
  insertMail,
  type MailRow,
} from '../store/queries/mails.ts'
import type { Change, Store } from '../store/store.ts'

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
}

/** Hands a mail to whoever brings it on; rejects when that has to be tried again. */
export interface MailTransport {
  send(mail: Mail & { readonly at: number }): Promise<void>
  close(): void
}

export type Mails = ReturnType<typeof createMails>

/** How long after each failure; behind the last the mail is given up, which the log says. */
const PAUSES_MS = [1, 5, 15, 60, 240, 720].map((minutes) => minutes * MINUTE_MS)
/** Within it whoever has claimed a mail has sent it, or died. */
const CLAIM_MS = 2 * MINUTE_MS

export interface MailsWorld {
  readonly store: Store
  readonly vault: Vault
  readonly transport: MailTransport
  readonly clock: Clock
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
}

export function createMails({ store, vault, transport, clock, log }: MailsWorld) {
  const rounds = createRounds(deliverAll, (error) =>
    log.error({ error }, 'mails wait for the next round'),
  )

  async function deliverAll(isClosed: () => boolean) {
    for (;;) {
      const due = await dueMails(store.read, clock.nowMs(), LIMITS.mailsAtOnceMax)
      for (const row of due) {
        if (isClosed()) return
        await deliverOne(row)
      }
      if (due.length < LIMITS.mailsAtOnceMax) return
    }
  }

  async function deliverOne(row: MailRow) {
    const { mailId, tenantId, attempts } = row
    const lease = { attempts: attempts + 1, nextAt: clock.nowMs() + CLAIM_MS }
    if (!(await store.change(({ queries }) => claimMail(queries, row, lease)))) return
    try {
      const mail = JSON.parse(vault.open(row.contentSealed, purposeOf(mailId))) as Mail
      await transport.send({ ...mail, at: row.createdAt })
    } catch (error) {
      return failed({ ...row, ...lease }, error)
    }
    await store.change(({ queries }) => deleteMail(queries, mailId))
    log.info({ tenantId, mail_id: mailId }, 'mail handed on')
  }

  /** What a mail server says may repeat the address, but nothing of the text. */
  async function failed(row: MailRow, error: unknown) {
    const { mailId, tenantId, attempts } = row
    const pauseMs = PAUSES_MS[attempts - 1]
    const problem = error instanceof Error ? error.message : String(error)
    log.warn({ tenantId, mail_id: mailId, attempts, problem }, 'mail not handed on')
    if (pauseMs === undefined)
      log.error({ tenantId, mail_id: mailId }, 'mail given up: check the mail server')
    await store.change(async ({ queries }) => {
      if (pauseMs === undefined) return deleteMail(queries, mailId)
      await claimMail(queries, row, { attempts, nextAt: clock.nowMs() + pauseMs })
    })
  }

  return {
    async queue(change: Change, tenantId: string, mail: Mail): Promise<void> {
      const mailId = randomUUID()
      await insertMail(change.queries, {
        mailId,
        tenantId,
        contentSealed: vault.seal(JSON.stringify(mail), purposeOf(mailId)),
        attempts: 0,
        createdAt: change.nowMs,
        nextAt: change.nowMs,
      })
    },

    /** Everything that is due. */
    deliver: () => rounds.run(),

    async close(): Promise<void> {
      await rounds.close()
      transport.close()
    },
  }
}

const purposeOf = (mailId: string) => `mails.content:${mailId}`
