/**
 * An alert by email, on every plan: to those who administer the tenant at that moment and to addresses
 * that have agreed, so it brings no mail to strangers; and one alert writes only so often, whatever
 * its cooldown.
 */
import { LIMITS } from '../../shared/limits.ts'
import type { AlertLinks } from './alert-links.ts'
import { letter, mailTextsFor } from './letters.ts'
import type { Mails } from './mails.ts'
import { recipientsOf } from '../store/queries/alert-recipients.ts'
import { administratorEmails } from '../store/queries/administrators.ts'
import type { AlertRow } from '../store/queries/alerts.ts'
import { findTenant } from '../store/queries/tenants.ts'
import type { Change } from '../store/store.ts'

interface AlertMailWorld {
  readonly mails: Pick<Mails, 'queue'>
  readonly links: Pick<AlertLinks, 'stopTokenOf' | 'address' | 'oneClick'>
  readonly baseUrl: string
}

/** Says whether it was written; it commits with the alert that it tells of. */
export const createAlertMail =
  ({ mails, links, baseUrl }: AlertMailWorld) =>
  async (change: Change, alert: Readonly<AlertRow>, value: number): Promise<boolean> => {
    const { tenantId, emailLanguage, emailedAt, metric, threshold, windowSeconds } = alert
    if (emailLanguage === null) return false
    // of a clock that was ahead: nobody waits for that time to come
    const agoMs = emailedAt === null ? Infinity : Math.abs(change.nowMs - emailedAt)
    if (agoMs < LIMITS.alertEmailEveryMs) return false
    const tenant = await findTenant(change.queries, tenantId)
    const most = LIMITS.alertEmailRecipientsMax
    const recipients = await administratorEmails(change.queries, tenantId, most)
    const facts = {
      tenant: tenant?.name ?? tenantId,
      what: metric,
      value,
      threshold,
      minutes: Math.max(1, Math.round(windowSeconds / 60)),
      link: `${baseUrl}/console/tenants/${tenantId}/overview`,
    }
    const write = mailTextsFor(emailLanguage).alert
    const text = write(facts)
    for (const to of recipients) await mails.queue(change, tenantId, letter(to, text))
    const known = new Set(recipients.map((to) => to.toLowerCase()))
    const others = await recipientsOf(change.queries, tenantId)
    const agreed = others.filter(
      ({ email, confirmedAt }) =>
        confirmedAt !== null && alert.emailRecipients.includes(email) && !known.has(email),
    )
    for (const consent of agreed) {
      const token = links.stopTokenOf(consent)
      const own = letter(consent.email, write({ ...facts, stopLink: links.address(token) }))
      await mails.queue(change, tenantId, { ...own, unsubscribe: links.oneClick(token) })
    }
    return recipients.length + agreed.length > 0
  }
