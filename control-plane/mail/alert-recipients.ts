/**
 * Who gets alerts by email and administers nothing: an address is asked once whether it agrees, by a
 * link, and says no by another, which every such mail holds. Nobody is written to who has not agreed,
 * and nobody is asked again before the link has expired, however often the address is typed.
 */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import {
  deleteRecipient,
  findRecipient,
  findRecipientByToken,
  recipientsOf,
  updateRecipient,
  upsertRecipient,
  type AlertRecipientRow,
} from '../store/queries/alert-recipients.ts'
import { alertsAfter, updateAlert } from '../store/queries/alerts.ts'
import { findTenant } from '../store/queries/tenants.ts'
import type { Queries } from '../store/sqlite.ts'
import type { Change, Store } from '../store/store.ts'
import { letter, mailTextsFor } from './letters.ts'
import type { Mails } from './mails.ts'

/** Where the links lead: a page of the console for whoever has one. */
export const ALERT_EMAILS_PATH = '/console/alert-emails'

const VALID_MS = LIMITS.alertConfirmationMsMax

export interface AlertRecipient {
  readonly email: string
  readonly language: string
  readonly tenantName: string
  readonly isConfirmed: boolean
}

interface RecipientsWorld {
  readonly store: Store
  readonly clock: Clock
  readonly mails: Pick<Mails, 'queue' | 'deliver'>
  readonly baseUrl: string
}

export const recipientLink = (baseUrl: string, token: string) =>
  `${baseUrl}${ALERT_EMAILS_PATH}?link=${token}`

export type AlertRecipients = ReturnType<typeof createAlertRecipients>

export function createAlertRecipients({ store, clock, mails, baseUrl }: RecipientsWorld) {
  /** The link says yes for a while, and no for ever. */
  const mayConfirm = ({ askedAt }: AlertRecipientRow) => clock.nowMs() - askedAt < VALID_MS

  return {
    /** In the change that names them. */
    async ask(
      change: Change,
      tenantId: string,
      emails: readonly string[],
      language: 'en' | 'de',
    ): Promise<void> {
      const { queries, nowMs } = change
      await forgetUnused(change, tenantId)
      const tenant = await findTenant(queries, tenantId)
      for (const email of emails) {
        const known = await findRecipient(queries, tenantId, email)
        if (known !== undefined && known.confirmedAt !== null) continue
        // of a clock that was ahead: nobody waits for that time to come
        if (known !== undefined && Math.abs(nowMs - known.askedAt) < VALID_MS) continue
        if ((await recipientsOf(queries, tenantId)).length >= LIMITS.alertRecipientsPerTenantMax)
          throw new Refusal('alert_recipients_exhausted', {
            field: 'email_recipients',
            alert_recipients_max: LIMITS.alertRecipientsPerTenantMax,
          })
        const token = randomBytes(24).toString('base64url')
        const asked = { language, token, askedAt: nowMs, confirmedAt: null }
        await upsertRecipient(queries, { tenantId, email, ...asked })
        const text = mailTextsFor(language).alertConfirm({
          tenant: tenant?.name ?? tenantId,
          link: recipientLink(baseUrl, token),
        })
        await mails.queue(change, tenantId, letter(email, text), nowMs + VALID_MS)
      }
    },

    /** Who of a tenant's has agreed. */
    async confirmedOf(queries: Queries, tenantId: string): Promise<ReadonlySet<string>> {
      const rows = await recipientsOf(queries, tenantId)
      return new Set(
        rows.filter(({ confirmedAt }) => confirmedAt !== null).map(({ email }) => email),
      )
    },

    /** Whose link it is; undefined: nobody's, or it has expired. */
    async look(token: string): Promise<AlertRecipient | undefined> {
      const row = await findRecipientByToken(store.read, token)
      if (row === undefined || (row.confirmedAt === null && !mayConfirm(row))) return undefined
      const tenant = await findTenant(store.read, row.tenantId)
      if (tenant === undefined) return undefined
      const { email, language, confirmedAt } = row
      return { email, language, tenantName: tenant.name, isConfirmed: confirmedAt !== null }
    },

    async confirm(token: string, requestId: string): Promise<void> {
      await store.change(async (change) => {
        const { queries, nowMs } = change
        const row = await findRecipientByToken(queries, token)
        if (row === undefined || !mayConfirm(row)) throw new Refusal('ticket_spent')
        const { tenantId, email } = row
        if (row.confirmedAt !== null) return
        await updateRecipient(queries, tenantId, email, { confirmedAt: nowMs })
        const actor = { name: email, requestId }
        await change.audit(actor, { action: 'alert_recipient.confirmed', tenantId })
      })
    },

    /** No alert names the address from now on; who wants it back types it, and it is asked again. */
    async stop(token: string, requestId: string): Promise<void> {
      await store.change(async (change) => {
        const { queries, nowMs } = change
        const row = await findRecipientByToken(queries, token)
        if (row === undefined) throw new Refusal('ticket_spent')
        const { tenantId, email } = row
        for (const alert of await alertsAfter(queries, tenantId, '', LIMITS.alertsPerTenantMax)) {
          const emailRecipients = alert.emailRecipients.filter((one) => one !== email)
          if (emailRecipients.length < alert.emailRecipients.length)
            await updateAlert(queries, tenantId, alert.alertId, { emailRecipients })
        }
        if (row.confirmedAt === null) return
        // the row stays for a while, so that nobody types the address again and again
        await updateRecipient(queries, tenantId, email, { confirmedAt: null, askedAt: nowMs })
        const actor = { name: email, requestId }
        await change.audit(actor, { action: 'alert_recipient.stopped', tenantId })
      })
    },
  }
}

/** Whom no alert names any more; who was asked a moment ago is remembered all the same. */
async function forgetUnused({ queries, nowMs }: Change, tenantId: string): Promise<void> {
  const alerts = await alertsAfter(queries, tenantId, '', LIMITS.alertsPerTenantMax)
  const named = new Set(alerts.flatMap(({ emailRecipients }) => emailRecipients))
  for (const { email, askedAt } of await recipientsOf(queries, tenantId))
    if (!named.has(email) && Math.abs(nowMs - askedAt) >= VALID_MS)
      await deleteRecipient(queries, tenantId, email)
}
