/**
 * Colleagues invited to administer one tenant, by its administrators or by who runs the service.
 * The role begins when the person accepts: whoever invites learns nothing of an account that there
 * may be already. A link is good once, for the address it went to, and while who sent it may still
 * give what it gives.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { fold } from '../accounts/login-keys.ts'
import type { User } from '../accounts/users.ts'
import { ALL_TENANTS, rolesOf } from '../store/queries/console.ts'
import {
  countInvitationsIn,
  deleteInvitation,
  deleteInvitationsExpiredBefore,
  findInvitation,
  findInvitationByLink,
  findInvitationTo,
  invitationsWaiting,
  upsertInvitation,
  type InvitationRow,
} from '../store/queries/console-invitations.ts'
import { takeRate } from '../store/queries/rates.ts'
import { findTenant } from '../store/queries/tenants.ts'
import { findUser, findUserByKey, updateUser } from '../store/queries/users.ts'
import { CONSOLE_REALM } from '../store/reserved.ts'
import type { Queries } from '../store/engine.ts'
import type { Actor, Change } from '../store/store.ts'
import { give, requireListed } from './roles.ts'
import type { ConsoleAccessWorld } from './world.ts'

export type Invitation = Readonly<InvitationRow>

/** Who asks, and in which language the mail is. */
export interface Inviter {
  /** undefined: who holds the operator key. */
  readonly userId: string | undefined
  /** Of the realm's session in which they ask. */
  readonly sid?: string
  readonly actor: Actor
  readonly language: string
}

export const INVITATION_PATH = '/console/invitation'

const ALREADY = 'This person already administers the tenant.'

export type ConsoleInvitations = ReturnType<typeof createConsoleInvitations>
/** What a link is for, as long as it is good. */
export type OpenedInvitation = NonNullable<Awaited<ReturnType<ConsoleInvitations['look']>>>

export function createConsoleInvitations(world: ConsoleAccessWorld) {
  const { store, vault, users, accountMail, baseUrl, clock } = world
  const linkHash = (secret: string) => vault.hash(`console_invitations/${secret}`)

  /** A new link; the one before it is void. */
  async function send(
    change: Change,
    row: InvitationRow,
    { actor, language, userId, sid }: Inviter,
  ) {
    const { queries, nowMs } = change
    const { tenantId, email, invitationId } = row
    await take(change, row)
    const secret = randomBytes(24).toString('base64url')
    const expiresAt = nowMs + LIMITS.consoleInvitationMs
    const invitedBy = userId ?? ''
    const from = { invitedBy, invitedIn: sid ?? null }
    const sent = { ...row, ...from, linkHash: linkHash(secret), sentAt: nowMs, expiresAt }
    await upsertInvitation(queries, sent)
    const by = userId && (await findUser(queries, CONSOLE_REALM, userId))
    const isColleague = userId !== undefined && (await hasRole(queries, userId, tenantId))
    const link = `${baseUrl}${INVITATION_PATH}?link=${secret}`
    const letter = { to: email, by: by && isColleague ? by.email : '', link, expiresAt }
    await accountMail.inviteColleague(change, tenantId, letter, language)
    const content = { invitation_id: invitationId, email, role: row.role }
    await change.audit(actor, { action: 'console.invited', tenantId, content })
  }

  async function take(change: Change, { tenantId, emailKey }: InvitationRow) {
    const { rateConsoleInvitations, rateConsoleInvitationsOfAddress } = LIMITS
    const wait =
      (await takeRate(change, {
        kind: 'console invitations',
        key: tenantId,
        rate: rateConsoleInvitations,
      })) ??
      (await takeRate(change, {
        kind: 'console invitations of address',
        key: `${tenantId} ${emailKey}`,
        rate: rateConsoleInvitationsOfAddress,
      }))
    if (wait !== undefined) throw new Refusal('rate_limited', { retry_after: wait })
  }

  /** The invitation of a link that is still good, with its tenant. */
  async function open(queries: Queries, secret: string, nowMs: number) {
    const row = await findInvitationByLink(queries, linkHash(secret))
    if (row === undefined || row.expiresAt <= nowMs) return undefined
    const { tenantId, invitedBy } = row
    const tenant = await findTenant(queries, tenantId)
    const isMeant = invitedBy === '' || (await mayInvite(queries, invitedBy, tenantId))
    return tenant === undefined || !isMeant ? undefined : { row, tenant }
  }

  async function requireOpen(queries: Queries, secret: string, nowMs: number) {
    const opened = await open(queries, secret, nowMs)
    if (opened === undefined) throw new Refusal('ticket_spent')
    return opened
  }

  /** Uses it up. */
  async function spend(change: Change, secret: string, user: User, actor: Actor) {
    const { row } = await requireOpen(change.queries, secret, change.nowMs)
    if (row.emailKey !== user.emailKey) throw new Refusal('ticket_spent')
    if (!(await deleteInvitation(change.queries, row.invitationId)))
      throw new Refusal('ticket_spent')
    // who may change things already loses nothing by accepting to look at them
    const isReadOnly =
      row.role === 'viewer' && !(await hasFullRole(change.queries, user.userId, row.tenantId))
    await give(change, user.userId, row.tenantId, actor, isReadOnly)
    return row
  }

  return {
    /** Once more to the same address is a new link. */
    async invite(
      tenantId: string,
      email: string,
      inviter: Inviter,
      isReadOnly = false,
    ): Promise<Invitation> {
      const emailKey = fold(email)
      const invitation = await store.change(async (change) => {
        const { queries, nowMs } = change
        await requireMay(queries, tenantId, inviter)
        const known = await findUserByKey(queries, CONSOLE_REALM, 'emailKey', emailKey)
        const has = isReadOnly ? hasRole : hasFullRole
        if (known !== undefined && (await has(queries, known.userId, tenantId)))
          throw new Refusal('field_invalid', { field: 'email' }, ALREADY)
        const before = await findInvitationTo(queries, tenantId, emailKey)
        const waiting = await countInvitationsIn(queries, tenantId, nowMs)
        if (before === undefined && waiting >= LIMITS.consoleInvitationsPerTenantMax)
          throw new Refusal('invitations_full')
        const row: InvitationRow = before ?? {
          invitationId: `inv_${randomUUID()}`,
          tenantId,
          email,
          emailKey,
          invitedBy: '',
          linkHash: '',
          role: 'administrator',
          invitedIn: null,
          createdAt: nowMs,
          sentAt: nowMs,
          expiresAt: nowMs,
        }
        const role = isReadOnly ? ('viewer' as const) : ('administrator' as const)
        await send(change, { ...row, email, role }, inviter)
        return { ...row, role }
      })
      accountMail.deliver()
      return invitation
    },

    async resend(tenantId: string, invitationId: string, inviter: Inviter): Promise<Invitation> {
      const known = await findInvitation(store.read, tenantId, invitationId)
      if (known === undefined) throw new Refusal('invitation_not_found')
      await store.change(async (change) => {
        await requireMay(change.queries, tenantId, inviter)
        const row = await findInvitation(change.queries, tenantId, invitationId)
        if (row === undefined) throw new Refusal('invitation_not_found')
        await send(change, row, inviter)
      })
      accountMail.deliver()
      return known
    },

    async withdraw(tenantId: string, invitationId: string, actor: Actor): Promise<Invitation> {
      return store.change(async (change) => {
        const row = await findInvitation(change.queries, tenantId, invitationId)
        if (row === undefined) throw new Refusal('invitation_not_found')
        await deleteInvitation(change.queries, invitationId)
        const content = { invitation_id: invitationId, email: row.email }
        await change.audit(actor, { action: 'console.invitation_withdrawn', tenantId, content })
        return row
      })
    },

    /** Those that wait; bounded, as they are. */
    list: (tenantId: string): Promise<Invitation[]> =>
      invitationsWaiting(
        store.read,
        { tenantId },
        clock.nowMs(),
        LIMITS.consoleInvitationsPerTenantMax,
      ),

    /** To this person, from any tenant; for operators. */
    listTo: ({ emailKey }: Pick<User, 'emailKey'>): Promise<Invitation[]> =>
      invitationsWaiting(store.read, { emailKey }, clock.nowMs(), LIMITS.pageItemsDefault),

    /** Opening a link uses nothing up: programs that look for malware open links too. */
    async look(secret: string) {
      const opened = await open(store.read, secret, clock.nowMs())
      if (opened === undefined) return undefined
      const { row, tenant } = opened
      const account = await findUserByKey(store.read, CONSOLE_REALM, 'emailKey', row.emailKey)
      const { tenantId, name: tenantName } = tenant
      const hasAccount = account !== undefined // which then accepts by itself
      const isReadOnly = row.role === 'viewer'
      return { tenantId, tenantName, email: row.email, hasAccount, isReadOnly }
    },

    /** By who has an account with this very address. */
    async accept(secret: string, userId: string, actor: Actor): Promise<string> {
      return store.change(async (change) => {
        const user = await findUser(change.queries, CONSOLE_REALM, userId)
        if (user === undefined || user.isDisabled) throw new Refusal('ticket_spent')
        return (await spend(change, secret, user, actor)).tenantId
      })
    },

    /** Account, role and the end of the link are one change. */
    async acceptAsNew(
      secret: string,
      { name, password }: { readonly name: string; readonly password: string },
      requestId: string,
    ): Promise<void> {
      const { row } = await requireOpen(store.read, secret, clock.nowMs())
      const { email } = row
      const actor = { name: `console:${email}`, requestId }
      const account = { username: email, email, name, password }
      await users.create(CONSOLE_REALM, account, actor, async (change, user) => {
        await spend(change, secret, user, { ...actor, id: user.userId })
        const emailProvenAt = change.nowMs // the link went there
        await updateUser(change.queries, CONSOLE_REALM, user.userId, { emailProvenAt })
      })
    },

    prune: (limit: number): Promise<number> =>
      store.change(({ queries, nowMs }) => deleteInvitationsExpiredBefore(queries, nowMs, limit)),
  }
}

/** Nobody gives more than they have: the tenant, or all of them, and now. */
async function mayInvite(queries: Queries, userId: string, tenantId: string): Promise<boolean> {
  const user = await findUser(queries, CONSOLE_REALM, userId)
  if (user === undefined || user.isDisabled) return false
  const roles = await rolesOf(queries, userId)
  return roles.some(
    ({ role, tenantId: of }) => role !== 'viewer' && (of === tenantId || of === ALL_TENANTS),
  )
}

async function hasRole(queries: Queries, userId: string, tenantId: string): Promise<boolean> {
  return (await rolesOf(queries, userId)).some((role) => role.tenantId === tenantId)
}

async function hasFullRole(queries: Queries, userId: string, tenantId: string): Promise<boolean> {
  const roles = await rolesOf(queries, userId)
  return roles.some(({ role, tenantId: of }) => role === 'administrator' && of === tenantId)
}

async function requireMay(queries: Queries, tenantId: string, { userId }: Inviter) {
  await requireListed(queries, tenantId)
  if (userId !== undefined && !(await mayInvite(queries, userId, tenantId)))
    throw new Refusal('tenant_not_found')
}
