/** What a person is told, and invited to do, by mail. Links begin with our own configured address. */
import { issuerOf } from '../../shared/issuer.ts'
import { HOUR_MS, SECOND_MS, type Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { Rate } from '../../shared/rate-limits.ts'
import { consoleNameFor, letter, mailTextsFor } from '../mail/letters.ts'
import type { Mails } from '../mail/mails.ts'
import type { FactorChange, MailText, MailTexts } from '../mail/texts/english.ts'
import { linksAhead } from '../store/queries/mails.ts'
import { leftOfRate, takeRate } from '../store/queries/rates.ts'
import { findTenant } from '../store/queries/tenants.ts'
import { findUser } from '../store/queries/users.ts'
import { CONSOLE_REALM } from '../store/reserved.ts'
import type { Actor, Change, Store, TenantChange } from '../store/store.ts'
import { browserName } from './browser-name.ts'
import { isKnownByMail } from './known-by-mail.ts'
import { fold } from './login-keys.ts'
import type { Tickets, TicketPurpose } from './tickets.ts'
import type { User, Users } from './users.ts'

const TENANT_WAITS_ENOUGH =
  'Too many invitations of this tenant are waiting to be sent. Try again later, or set a password for these users.'

const SENT_ENOUGH =
  'This person was sent three links within an hour. Ask them to check their spam folder, or try again later.'

/** What is taken beyond those at once is theirs later. */
const pacedBy = ({ burst, perSecond }: Rate, waitMsMax: number) => {
  const everyMs = Math.round(SECOND_MS / perSecond)
  const waitingMax = waitMsMax / everyMs
  return {
    rate: { burst: burst + waitingMax, perSecond },
    /** How long the last of so many more waits. */
    waitMsOf: (left: number, more: number) => Math.max(0, more - (left - waitingMax)) * everyMs,
  }
}

const INVITATIONS = pacedBy(LIMITS.rateInvitations, LIMITS.invitationWaitMsMax)
const invitationsOf = (tenantId: string) => ({
  kind: 'invitations',
  key: tenantId,
  rate: INVITATIONS.rate,
})

const NOTICES = pacedBy(LIMITS.rateNoticesOfTenant, LIMITS.invitationWaitMsMax)
const JOB: Actor = { name: 'service', requestId: '' }

type NoticeKind = keyof Pick<
  MailTexts,
  'emailChanged' | 'passwordChanged' | 'newDevice' | 'factorsChanged'
>

export type AccountMail = ReturnType<typeof createAccountMail>

/** Of links to pages of an account; those to sign in with lead to one sign-in (`sign-in-mail.ts`). */
type LinkPurpose = Exclude<TicketPurpose, 'sign_in' | 'sign_up'>

const PAGES: Readonly<Record<LinkPurpose, string>> = {
  invite: 'invitation',
  reset: 'new-password',
  email: 'new-email',
}

interface AccountMailWorld {
  readonly store: Store
  readonly tickets: Tickets
  readonly mails: Mails
  readonly users: Pick<Users, 'byLogin'>
  readonly baseUrl: string
  readonly clock: Clock
}

export function createAccountMail(world: AccountMailWorld) {
  const { store, tickets, mails, users, baseUrl, clock } = world
  const realmUrl = (tenantId: string) => issuerOf(baseUrl, tenantId)

  /** Whether a link was written; not where the person, or the address, has been sent enough of them. */
  async function sendLink(
    change: TenantChange,
    user: User,
    language: string,
    {
      purpose,
      to = user.email,
      content,
      sentAt,
    }: { purpose: LinkPurpose; to?: string; content?: string; sentAt?: number },
  ): Promise<boolean> {
    const { tenantId, userId, name } = user
    const timed = sentAt === undefined ? {} : { sentAt }
    const ticket = {
      tenantId,
      userId,
      purpose,
      ...(content !== undefined && { content }),
      ...timed,
    }
    if (purpose !== 'invite' && !(await hasRoom(change, tenantId, purpose, to))) return false
    const issued = await tickets.issue(change, ticket)
    if (issued === undefined) return false
    const { secret, ticketHash, expiresAt } = issued
    const application = await applicationOf(change, tenantId, language)
    const link = `${realmUrl(tenantId)}/account/${PAGES[purpose]}?ticket=${secret}`
    // names are what people type: to an address that is not theirs yet none is sent
    const greeted = purpose === 'email' ? to : name
    const text = mailTextsFor(language)[purpose]({ application, name: greeted, link })
    await mails.queue(change, tenantId, letter(to, text), { expiresAt, ticketHash, ...timed })
    return true
  }

  /**
   * What has happened to an account, while the person has not been told enough of its kind: each
   * kind by itself, so that nobody hides one behind many of another. What is `ofMany` can be done by
   * one to very many accounts at once.
   */
  async function tell(
    change: TenantChange,
    user: User,
    { kind, language, ofMany = false }: { kind: NoticeKind; language: string; ofMany?: boolean },
    write: (
      texts: MailTexts,
      facts: { readonly application: string; readonly isLast: boolean },
    ) => MailText,
  ) {
    const { tenantId, userId, email } = user
    // by the address as well, as for links
    const told = [userId, fold(email)].map((whose) => {
      const key = `${tenantId} ${whose}`
      return { kind: `mail ${kind}`, key, rate: LIMITS.rateNoticesOfPerson }
    })
    let isLast = false
    for (const bucket of told) {
      if ((await takeRate(change, bucket)) !== undefined) return
      isLast ||= (await leftOfRate(change.queries, bucket, change.nowMs)) < 1
    }
    const sentAt = ofMany ? await turnOfNotice(change, user, kind) : change.nowMs
    if (sentAt === undefined) return
    const application = await applicationOf(change, tenantId, language)
    const text = write(mailTextsFor(language), { application, isLast })
    await mails.queue(change, tenantId, letter(email, text), { sentAt })
  }

  /**
   * A tenant may write any address into its accounts, and change it: so many an hour are told of, and
   * what is over that waits. Where too many wait, the audit trail has who was not told.
   */
  async function turnOfNotice(
    change: TenantChange,
    { tenantId, userId }: User,
    kind: NoticeKind,
  ): Promise<number | undefined> {
    const ofTenant = { kind: 'notices of tenant', key: tenantId, rate: NOTICES.rate }
    if ((await takeRate(change, ofTenant)) === undefined)
      return (
        change.nowMs + NOTICES.waitMsOf(await leftOfRate(change.queries, ofTenant, change.nowMs), 0)
      )
    const content = { user_id: userId, notice: kind }
    await change.audit(JOB, { action: 'user.not_notified', tenantId, content })
    return undefined
  }

  /**
   * To strangers' addresses, as long as nobody has shown that they are not: so many an hour, and what
   * is over that waits for its turn, which is what is answered.
   */
  async function turnOfInvitation(
    change: TenantChange,
    { tenantId, emailKey }: User,
  ): Promise<number> {
    const waitAddress = await takeRate(change, {
      kind: 'invitations of address',
      key: `${tenantId} ${emailKey}`,
      rate: LIMITS.rateInvitationsOfAddress,
    })
    if (waitAddress !== undefined)
      throw new Refusal('rate_limited', { retry_after: waitAddress }, SENT_ENOUGH)
    const ofTenant = invitationsOf(tenantId)
    const waitTenant = await takeRate(change, ofTenant)
    if (waitTenant !== undefined)
      throw new Refusal('rate_limited', { retry_after: waitTenant }, TENANT_WAITS_ENOUGH)
    return (
      change.nowMs +
      INVITATIONS.waitMsOf(await leftOfRate(change.queries, ofTenant, change.nowMs), 0)
    )
  }

  /** With the account, or later. */
  async function inviteIn(change: TenantChange, user: User, actor: Actor, language: string) {
    const { tenantId, userId } = user
    const sentAt = await turnOfInvitation(change, user)
    if (!(await sendLink(change, user, language, { purpose: 'invite', sentAt })))
      throw new Refusal('rate_limited', { retry_after: HOUR_MS / 1000 }, SENT_ENOUGH)
    const content = { user_id: userId }
    await change.audit(actor, { action: 'user.invited', tenantId, content })
  }

  /** To the address from before: whoever reads it there may know nothing of the change. */
  async function tellEmailChanged(
    change: TenantChange,
    before: User,
    email: string,
    language: string,
  ) {
    const { name } = before
    const notice = { kind: 'emailChanged', language, ofMany: true } as const
    await tell(change, before, notice, (texts, facts) =>
      texts.emailChanged({ ...facts, name, email }),
    )
  }

  async function tellPasswordChanged(
    change: TenantChange,
    user: User,
    language: string,
    {
      areBrowsersForgotten = false,
      isByOther = false,
    }: { readonly areBrowsersForgotten?: boolean; readonly isByOther?: boolean } = {},
  ) {
    const { tenantId, name } = user
    const link = `${realmUrl(tenantId)}/account/forgotten`
    const own = { name, link, areBrowsersForgotten, isByOther }
    const notice = { kind: 'passwordChanged', language, ofMany: isByOther } as const
    await tell(change, user, notice, (texts, facts) => texts.passwordChanged({ ...facts, ...own }))
  }

  return {
    tellEmailChanged,
    tellPasswordChanged,
    inviteIn,
    /** Invitations that wait for their turn, and when the last of them has it. */
    invitationsAhead: (tenantId: string) => linksAhead(store.read, tenantId, clock.nowMs()),

    /** When the last of so many more would have its turn; undefined: all of them now. */
    async invitedBy(tenantId: string, count: number): Promise<number | undefined> {
      const nowMs = clock.nowMs()
      const waitMs = INVITATIONS.waitMsOf(
        await leftOfRate(store.read, invitationsOf(tenantId), nowMs),
        count,
      )
      return waitMs === 0 ? undefined : nowMs + waitMs
    },

    /** A first password is the person's own to choose. `alongside` holds if the mail goes out. */
    async invite(
      tenantId: string,
      userId: string,
      actor: Actor,
      language: string,
      alongside?: (change: Change) => Promise<void>,
    ): Promise<void> {
      await store.change(async (change) => {
        const user = await findUser(change.queries, tenantId, userId)
        if (user === undefined) throw new Refusal('user_not_found')
        if (user.source === 'directory') throw new Refusal('user_elsewhere')
        await alongside?.(change)
        await inviteIn(change, user, actor, language)
      })
      void mails.deliver()
    },

    /** Nothing tells whether there is such an account: who asks does not wait for this. */
    async forgotten(tenantId: string, login: string, actor: Actor, language: string) {
      const user = await users.byLogin(tenantId, login)
      if (user === undefined || user.isDisabled || user.source === 'directory') return
      await store.change(async (change) => {
        if (!(await isKnownByMail(change.queries, user))) return
        if (!(await sendLink(change, user, language, { purpose: 'reset' }))) return
        const content = { user_id: user.userId }
        await change.audit(actor, { action: 'password.forgotten', tenantId, content })
      })
      void mails.deliver()
    },

    /** To the new address, which has to prove itself. `sid`: of the session that asks for it. */
    async confirmEmail(
      user: User,
      email: string,
      actor: Actor,
      language: string,
      sid?: string,
    ): Promise<boolean> {
      const { tenantId, userId } = user
      const isSent = await store.change(async (change) => {
        const content = sid === undefined ? email : `${email}\n${sid}`
        const link = { purpose: 'email', to: email, content } as const
        if (!(await sendLink(change, user, language, link))) return false
        const asked = { user_id: userId }
        await change.audit(actor, { action: 'email.change_asked', tenantId, content: asked })
        return true
      })
      void mails.deliver()
      return isSent
    },

    /** What somebody else has changed of an account, to the address that it had until then. */
    async tellChangedByOther(change: TenantChange, before: User, after: User, language: string) {
      const facts = { areBrowsersForgotten: true, isByOther: true }
      if (after.passwordHash !== before.passwordHash)
        await tellPasswordChanged(change, before, language, facts)
      // as it is sent to: mail to what only reads the same ends elsewhere
      if (after.email !== before.email)
        await tellEmailChanged(change, before, after.email, language)
    },

    async tellFactorsChanged(
      change: TenantChange,
      user: User,
      what: FactorChange,
      language: string,
    ) {
      const { tenantId, name } = user
      const link = `${realmUrl(tenantId)}/account`
      await tell(change, user, { kind: 'factorsChanged', language }, (texts, facts) =>
        texts.factorsChanged({ ...facts, name, what, link }),
      )
    },

    /** No name is in it: to a stranger's address go no words that somebody else has typed. */
    async inviteColleague(
      change: TenantChange,
      tenantId: string,
      invitation: {
        readonly to: string
        readonly by: string
        readonly link: string
        readonly expiresAt: number
      },
      language: string,
    ) {
      const { to, by, link, expiresAt } = invitation
      const tenant = await applicationOf(change, tenantId, language)
      const text = mailTextsFor(language).colleague({ tenant, by, link })
      await mails.queue(change, tenantId, letter(to, text), { expiresAt })
    },

    async newDevice(
      change: TenantChange,
      seen: {
        readonly user: User
        readonly ip: string
        readonly userAgent: string
        readonly atMs: number
      },
      language = '',
    ) {
      const { user, ip, userAgent, atMs } = seen
      const own = {
        name: user.name,
        browser: browserName(userAgent),
        ip,
        at: `${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`,
        link: `${realmUrl(user.tenantId)}/account/forgotten`,
      }
      await tell(change, user, { kind: 'newDevice', language }, (texts, facts) =>
        texts.newDevice({ ...facts, ...own }),
      )
    },

    /** What has been committed goes out now; what cannot waits for its next turn. */
    deliver(): void {
      void mails.deliver()
    },
  }
}

/** An account may be removed and made again, with the address of somebody who wants none of it. */
async function hasRoom(change: TenantChange, tenantId: string, purpose: TicketPurpose, to: string) {
  const ofAddress = {
    kind: `${purpose} links of address`,
    key: `${tenantId} ${fold(to)}`,
    rate: LIMITS.rateInvitationsOfAddress,
  }
  return (await takeRate(change, ofAddress)) === undefined
}

async function applicationOf(
  { queries }: TenantChange,
  tenantId: string,
  language: string,
): Promise<string> {
  if (tenantId === CONSOLE_REALM) return consoleNameFor(language)
  const tenant = await findTenant(queries, tenantId)
  if (tenant === undefined) throw new Refusal('tenant_not_found')
  return tenant.name
}
