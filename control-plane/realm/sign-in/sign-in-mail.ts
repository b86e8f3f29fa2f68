/**
 * Mails that let people in: a link and a code for one sign-in in one browser. What is in them was made
 * before anybody was looked for, so whoever asks learns nothing of who has an account: the answer is
 * the same, and is given before this begins (.docs/decisions/0105-sign-in-by-email.md).
 */
import { randomInt } from 'node:crypto'
import { issuerOf } from '../../../shared/issuer.ts'
import { MINUTE_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { domainOfAddress } from '../../connections/email-domain.ts'
import { letter, mailTextsFor } from '../../mail/letters.ts'
import type { Mails } from '../../mail/mails.ts'
import { isMailOffered } from '../../policy/password.ts'
import type { Queries } from '../../store/engine.ts'
import { connectionOfDomain } from '../../store/queries/connection-domains.ts'
import { findConnection } from '../../store/queries/connections.ts'
import { takeEachRate } from '../../store/queries/rates.ts'
import { findTenant } from '../../store/queries/tenants.ts'
import { findUser } from '../../store/queries/users.ts'
import type { Actor, Store, TenantChange } from '../../store/store.ts'
import { policiesIn } from '../../tenants/policies.ts'
import { browserName } from '../../accounts/browser-name.ts'
import { isKnownByMail } from '../../accounts/known-by-mail.ts'
import type { Tickets } from '../../accounts/tickets.ts'
import type { User } from '../../accounts/users.ts'

/** What becomes of them, for the operator's figures. */
const RESULTS = ['sent', 'nobody', 'held_back', 'used', 'wrong', 'other_browser'] as const
type SignInMailResult = (typeof RESULTS)[number]

export interface AskedMail {
  readonly tenantId: string
  /** The sign-in that it is for. */
  readonly uid: string
  readonly secret: string
  readonly code: string
  /** Of an earlier mail of this sign-in. */
  readonly replacedHash: string | undefined
  readonly isKnownDevice: boolean
  readonly ip: string
  readonly userAgent: string
  readonly language: string
}

interface AskedByPerson extends AskedMail {
  /** Whom the name that was typed means. */
  readonly userId: string | undefined
}

export type SignInMail = ReturnType<typeof createSignInMail>

interface SignInMailWorld {
  readonly store: Store
  readonly tickets: Tickets
  readonly mails: Mails
  readonly baseUrl: string
}

const CODE_DIGITS = 8
const HALF = CODE_DIGITS / 2

/** Eight digits, which phones type on their large keys. */
export const newSignInCode = (): string =>
  String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, '0')

/** As it was made, however it was typed; undefined is none of ours. */
export function readSignInCode(typed: string): string | undefined {
  const digits = typed.replaceAll(/[\s\p{Pd}]/gu, '')
  return /^\d{8}$/.test(digits) ? digits : undefined
}

/** As people read it. */
export const written = (code: string) => `${code.slice(0, HALF)} ${code.slice(HALF)}`

/** Of when something was asked for. */
export const minuteOf = (atMs: number): string =>
  `${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`

export function createSignInMail({ store, tickets, mails, baseUrl }: SignInMailWorld) {
  const counts = Object.fromEntries(RESULTS.map((one) => [one, 0])) as Record<
    SignInMailResult,
    number
  >

  async function write(change: TenantChange, asked: AskedByPerson): Promise<SignInMailResult> {
    const { queries } = change
    const { tenantId, uid, userId, secret, replacedHash, ip, language } = asked
    const tenant = await findTenant(queries, tenantId)
    if (tenant === undefined) return 'nobody'
    if (replacedHash !== undefined) await tickets.voidOne(change, replacedHash)
    const user = userId === undefined ? undefined : await findUser(queries, tenantId, userId)
    if (user === undefined || !isMailOffered(await policiesIn(queries, tenantId))) return 'nobody'
    if (!(await isReachedByMail(queries, user))) return 'nobody'
    if (!(await hasRoom(change, user, asked.isKnownDevice))) return 'held_back'
    const issued = await tickets.issue(change, {
      ...{ tenantId, userId: user.userId, purpose: 'sign_in', content: uid, secret },
    })
    if (issued === undefined) return 'held_back'
    const { ticketHash, expiresAt } = issued
    const text = mailTextsFor(language).signIn({
      application: tenant.name,
      name: user.name,
      code: written(asked.code),
      link: `${issuerOf(baseUrl, tenantId)}/sign-in/${uid}/email?ticket=${secret}`,
      browser: browserName(asked.userAgent),
      ip,
      at: minuteOf(change.nowMs),
      minutes: LIMITS.signInMailMsMax / MINUTE_MS,
    })
    await mails.queue(change, tenantId, letter(user.email, text), { expiresAt, ticketHash })
    return 'sent'
  }

  return {
    counts: (): Readonly<Record<SignInMailResult, number>> => counts,
    count: (result: SignInMailResult): void => void counts[result]++,

    /** Whoever asks does not wait for this. */
    async send(asked: AskedByPerson, actor: Actor): Promise<SignInMailResult> {
      const { tenantId, userId = '', ip } = asked
      const result = await store.changeOf(tenantId, async (change) => {
        const written = await write(change, asked)
        if (written !== 'sent') return written
        const content = { user_id: userId, address: ip.slice(0, LIMITS.addressTextMax) }
        await change.audit(actor, { action: 'sign_in.mailed', tenantId, content })
        return written
      })
      counts[result]++
      void mails.deliver()
      return result
    },
  }
}

/**
 * Whose mail opens their account. Nobody who comes in elsewhere: by the tenant's own database, or by a
 * connection that their domain leads to; and nobody whose address only a provider has named.
 */
export async function isReachedByMail(queries: Queries, user: User): Promise<boolean> {
  const { tenantId, isDisabled, source, emailKey } = user
  if (isDisabled || source !== 'own') return false
  if (await isOfConnectedDomain(queries, tenantId, emailKey)) return false
  return isKnownByMail(queries, user)
}

async function isOfConnectedDomain(queries: Queries, tenantId: string, emailKey: string) {
  const domain = domainOfAddress(emailKey)
  const home = domain && (await connectionOfDomain(queries, tenantId, domain))
  if (home === undefined) return false
  return (await findConnection(queries, tenantId, home))?.state === 'active'
}

/**
 * Browsers that the person has used count apart, as they do for lockout: strangers use up none of it, not
 * even with mails to everybody of a tenant. What is not sent takes nothing.
 */
async function hasRoom(
  change: TenantChange,
  { tenantId, emailKey }: User,
  isKnownDevice: boolean,
): Promise<boolean> {
  const whose = isKnownDevice ? 'known' : 'new'
  const key = `${tenantId} ${emailKey}`
  const buckets = [
    { kind: `sign-in mails (${whose})`, key, rate: LIMITS.rateSignInMailsOfAddress },
    { kind: `sign-in mails a day (${whose})`, key, rate: LIMITS.rateSignInMailsOfAddressADay },
    {
      kind: `sign-in mails of tenant (${whose})`,
      key: tenantId,
      rate: LIMITS.rateSignInMailsOfTenant,
    },
  ]
  return takeEachRate(change, buckets)
}
