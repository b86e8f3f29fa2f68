/**
 * Mails to people who want an account: with a link and a code for the sign-in that has asked, or, where there
 * is an account already, with that. On the page nobody sees which of them it was
 * (.docs/decisions/0114-self-sign-up.md).
 */
import { issuerOf } from '../../../shared/issuer.ts'
import { MINUTE_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { browserName } from '../../accounts/browser-name.ts'
import { mailboxOf } from '../../accounts/email-address.ts'
import { fold } from '../../accounts/login-keys.ts'
import type { Tickets } from '../../accounts/tickets.ts'
import { letter, mailTextsFor } from '../../mail/letters.ts'
import type { Mails } from '../../mail/mails.ts'
import { takeEachRate } from '../../store/queries/rates.ts'
import { findSignUpOf } from '../../store/queries/sign-ups.ts'
import { findTenant } from '../../store/queries/tenants.ts'
import { findUserByKey } from '../../store/queries/users.ts'
import type { Actor, Store, TenantChange } from '../../store/store.ts'
import { minuteOf, written, type AskedMail } from '../sign-in/sign-in-mail.ts'
import { mayHaveAccount } from './open.ts'

/** What becomes of them and of those who asked, for the operator's figures. */
const RESULTS = [
  'sent',
  'known',
  'waits',
  'nobody',
  'held_back',
  'wrong',
  'other_browser',
  'requested',
  'created',
] as const
type SignUpResult = (typeof RESULTS)[number]

interface AskedByStranger extends AskedMail {
  readonly email: string
}

export type SignUpMail = ReturnType<typeof createSignUpMail>

export function createSignUpMail({
  store,
  tickets,
  mails,
  baseUrl,
}: {
  readonly store: Store
  readonly tickets: Tickets
  readonly mails: Mails
  readonly baseUrl: string
}) {
  const counts = Object.fromEntries(RESULTS.map((one) => [one, 0])) as Record<SignUpResult, number>

  async function write(change: TenantChange, asked: AskedByStranger): Promise<SignUpResult> {
    const { queries, nowMs } = change
    const { tenantId, uid, email, secret, replacedHash, ip, language } = asked
    const tenant = await findTenant(queries, tenantId)
    if (tenant === undefined) return 'nobody'
    if (replacedHash !== undefined) await tickets.voidOne(change, replacedHash)
    const emailKey = fold(email)
    if (!(await mayHaveAccount(queries, tenantId, { email, emailKey }))) return 'nobody'
    if (!(await hasRoom(change, tenantId, emailKey))) return 'held_back'
    const issuer = issuerOf(baseUrl, tenantId)
    const texts = mailTextsFor(language)
    const application = tenant.name
    const holder = await findUserByKey(queries, tenantId, 'emailKey', emailKey)
    if (holder !== undefined) {
      const facts = { application, link: `${issuer}/account/forgotten` }
      await mails.queue(change, tenantId, letter(holder.email, texts.signUpKnown(facts)))
      return 'known'
    }
    const waiting = await findSignUpOf(queries, tenantId, emailKey)
    if (waiting !== undefined) {
      const text = texts.signUpWaiting({ application, link: '' })
      await mails.queue(change, tenantId, letter(waiting.email, text))
      return 'waits'
    }
    const ticket = { tenantId, userId: uid, purpose: 'sign_up', content: emailKey, secret } as const
    const issued = await tickets.issue(change, ticket)
    if (issued === undefined) return 'held_back'
    const { ticketHash, expiresAt } = issued
    const text = texts.signUp({
      application,
      code: written(asked.code),
      link: `${issuer}/sign-in/${uid}/sign-up?ticket=${secret}`,
      browser: browserName(asked.userAgent),
      ip,
      at: minuteOf(nowMs),
      minutes: LIMITS.signInMailMsMax / MINUTE_MS,
    })
    await mails.queue(change, tenantId, letter(email, text), { expiresAt, ticketHash })
    return 'sent'
  }

  return {
    counts: (): Readonly<Record<SignUpResult, number>> => counts,
    count: (result: SignUpResult): void => void counts[result]++,

    /** Whoever asks does not wait for this. */
    async send(asked: AskedByStranger, actor: Actor): Promise<SignUpResult> {
      const { tenantId, ip } = asked
      const result = await store.changeOf(tenantId, async (change) => {
        const result = await write(change, asked)
        if (result !== 'sent' && result !== 'known' && result !== 'waits') return result
        const content = { email: asked.email, address: ip.slice(0, LIMITS.addressTextMax) }
        await change.audit(actor, { action: 'sign_up.mailed', tenantId, content })
        return result
      })
      counts[result]++
      void mails.deliver()
      return result
    },
  }
}

/** Counted apart from mails to sign in with: who asks for accounts keeps nobody out of theirs. */
async function hasRoom(change: TenantChange, tenantId: string, emailKey: string): Promise<boolean> {
  // somebody with one mailbox has as many addresses there as they like
  const key = `${tenantId} ${mailboxOf(emailKey)}`
  return takeEachRate(change, [
    { kind: 'sign-up mails', key, rate: LIMITS.rateSignInMailsOfAddress },
    { kind: 'sign-up mails a day', key, rate: LIMITS.rateSignInMailsOfAddressADay },
    { kind: 'sign-up mails of tenant', key: tenantId, rate: LIMITS.rateSignUpMailsOfTenant },
  ])
}
