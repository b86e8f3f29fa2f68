/**
 * Who gets alerts by email and administers nothing: an address is asked once whether it agrees, by a
 * link that does so once, and says no by another, which every alert holds. Nobody is written to who
 * has not agreed, and nobody is asked again before the link has expired, nor long after a no, however
 * often the address is typed.
 */
import type { Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import {
  deleteRecipient,
  findRecipient,
  findRecipientToConfirm,
  recipientsOf,
  updateRecipient,
  upsertRecipient,
  type AlertRecipientRow,
} from '../store/queries/alert-recipients.ts'
import { alertsAfter, updateAlert } from '../store/queries/alerts.ts'
import { findTenant } from '../store/queries/tenants.ts'
import type { Queries } from '../store/engine.ts'
import type { Change, Store } from '../store/store.ts'
import type { AlertLinks } from './alert-links.ts'
import { letter, mailTextsFor } from './letters.ts'
import type { Mails } from './mails.ts'

const VALID_MS = LIMITS.alertConfirmationMsMax

export interface AlertRecipient {
  readonly email: string
  readonly language: string
  readonly tenantName: string
  readonly isConfirmed: boolean
}

/** To say no, whoever has it; to say yes only where it came with the question. */
interface Found {
  readonly row: AlertRecipientRow
  readonly mayConfirm: boolean
}

interface RecipientsWorld {
  readonly store: Store
  readonly clock: Clock
  readonly mails: Pick<Mails, 'queue'>
  readonly links: AlertLinks
}

export function createAlertRecipients({ store, clock, mails, links }: RecipientsWorld) {
  async function find(queries: Queries, token: string): Promise<Found | undefined> {
    const tenantId = links.tenantOfStopToken(token)
    const confirmed = tenantId === undefined ? [] : await recipientsOf(queries, tenantId)
    const row = confirmed.find((row) => row.confirmedAt !== null && links.isStopTokenOf(token, row))
    if (row !== undefined) return { row, mayConfirm: false }
    const asked = await findRecipientToConfirm(queries, links.confirmHashOf(token))
    const isOver = asked === undefined || clock.nowMs() - asked.askedAt >= VALID_MS
    return isOver ? undefined : { row: asked, mayConfirm: true }
  }

  /** Whoever makes up tokens gets no turn with the writer. */
  async function requireKnown(token: string): Promise<void> {
    if ((await find(store.read, token)) === undefined) throw new Refusal('ticket_spent')
  }

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
        if (known !== undefined && (known.confirmedAt !== null || isRemembered(known, nowMs)))
          continue
        await requireRoom(queries, tenantId, email)
        const token = links.newConfirmToken()
        await upsertRecipient(queries, {
          ...{ tenantId, email, language, askedAt: nowMs, confirmedAt: null },
          ...{ confirmHash: links.confirmHashOf(token), stoppedAt: null },
        })
        const text = mailTextsFor(language).alertConfirm({
          tenant: tenant?.name ?? tenantId,
          link: links.address(token),
        })
        await mails.queue(change, tenantId, letter(email, text), { expiresAt: nowMs + VALID_MS })
      }
    },

    /** Who of a tenant's has agreed. */
    async confirmedOf(queries: Queries, tenantId: string): Promise<ReadonlySet<string>> {
      const rows = await recipientsOf(queries, tenantId)
      return new Set(
        rows.filter(({ confirmedAt }) => confirmedAt !== null).map(({ email }) => email),
      )
    },

    /** Whose link it is; undefined: nobody's, or it has expired, or has been used. */
    async look(token: string): Promise<AlertRecipient | undefined> {
      const found = await find(store.read, token)
      const tenant = found && (await findTenant(store.read, found.row.tenantId))
      if (found === undefined || tenant === undefined) return undefined
      const { email, language } = found.row
      return { email, language, tenantName: tenant.name, isConfirmed: !found.mayConfirm }
    },

    /** Once; the token of the link that ends it. */
    async confirm(token: string, requestId: string): Promise<string> {
      await requireKnown(token)
      return store.change(async (change) => {
        const { queries, nowMs } = change
        const found = await find(queries, token)
        if (found?.mayConfirm !== true) throw new Refusal('ticket_spent')
        const { tenantId, email } = found.row
        const consent = { confirmedAt: nowMs, confirmHash: null, stoppedAt: null }
        await updateRecipient(queries, tenantId, email, consent)
        const actor = { name: email, requestId }
        await change.audit(actor, { action: 'alert_recipient.confirmed', tenantId })
        return links.stopTokenOf({ ...found.row, ...consent })
      })
    },

    /** No alert names the address from now on, and for a long time it is not asked again. */
    async stop(token: string, requestId: string): Promise<void> {
      await requireKnown(token)
      await store.change(async (change) => {
        const { queries, nowMs } = change
        const found = await find(queries, token)
        if (found === undefined) throw new Refusal('ticket_spent')
        const { tenantId, email } = found.row
        for (const alert of await alertsAfter(queries, tenantId, '', LIMITS.alertsPerTenantMax)) {
          const emailRecipients = alert.emailRecipients.filter((one) => one !== email)
          if (emailRecipients.length < alert.emailRecipients.length)
            await updateAlert(queries, tenantId, alert.alertId, { emailRecipients })
        }
        const refusal = { confirmedAt: null, confirmHash: null }
        await updateRecipient(queries, tenantId, email, { ...refusal, stoppedAt: nowMs })
        const actor = { name: email, requestId }
        await change.audit(actor, { action: 'alert_recipient.stopped', tenantId })
      })
    },
  }
}

/** Asked a moment ago, or said no. Of a clock that was ahead: nobody waits for that time to come. */
const isRemembered = ({ askedAt, stoppedAt }: AlertRecipientRow, nowMs: number) =>
  stoppedAt === null
    ? Math.abs(nowMs - askedAt) < VALID_MS
    : Math.abs(nowMs - stoppedAt) < LIMITS.alertRefusalMs

async function requireRoom(queries: Queries, tenantId: string, asked: string): Promise<void> {
  const others = (await recipientsOf(queries, tenantId)).filter(({ email }) => email !== asked)
  const refusals = others.filter(({ stoppedAt }) => stoppedAt !== null).length
  const isFull = others.length - refusals >= LIMITS.alertRecipientsPerTenantMax
  // each is mailed to once more, however many of one's own addresses say no
  if (isFull || refusals >= LIMITS.alertRefusalsPerTenantMax)
    throw new Refusal('alert_recipients_exhausted', {
      field: 'email_recipients',
      alert_recipients_max: LIMITS.alertRecipientsPerTenantMax,
    })
}

/** Whom no alert names any more; who was asked a moment ago, or said no, is remembered all the same. */
async function forgetUnused({ queries, nowMs }: Change, tenantId: string): Promise<void> {
  const alerts = await alertsAfter(queries, tenantId, '', LIMITS.alertsPerTenantMax)
  const named = new Set(alerts.flatMap(({ emailRecipients }) => emailRecipients))
  for (const row of await recipientsOf(queries, tenantId))
    if (!named.has(row.email) && !isRemembered(row, nowMs))
      await deleteRecipient(queries, tenantId, row.email)
}
