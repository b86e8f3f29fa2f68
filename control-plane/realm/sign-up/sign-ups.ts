/**
 * People who have shown that an address is theirs and wait for an administrator. They are no users: nothing
 * finds them by a name or lets them in, and whoever comes to an account with that address otherwise, by an
 * invitation, a provider or SCIM, ends the waiting (`store/queries/users.ts`).
 */
import { Refusal } from '../../../shared/errors.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { accountWithoutCredentials } from '../../accounts/user-changes.ts'
import type { User } from '../../accounts/users.ts'
import { letter, mailTextsFor } from '../../mail/letters.ts'
import type { Mails } from '../../mail/mails.ts'
import { decodeCursor, toPage, type Page, type PageRequest } from '../../store/page.ts'
import { administratorEmails } from '../../store/queries/administrators.ts'
import { takeRate } from '../../store/queries/rates.ts'
import {
  countSignUps,
  deleteSignUp,
  deleteSignUpsExpiredBefore,
  findSignUp,
  noteSignUpsTold,
  signUpsAfter,
  tenantsWithUntoldSignUps,
  type SignUpRow,
} from '../../store/queries/sign-ups.ts'
import { findGroup, insertMembers } from '../../store/queries/access.ts'
import { findScimGroupByName } from '../../store/queries/scim.ts'
import { findTenant, requireTenant } from '../../store/queries/tenants.ts'
import { insertUser } from '../../store/queries/users.ts'
import type { Actor, Change, Store, TenantChange } from '../../store/store.ts'
import { applicationHomeOf } from '../../tenants/application-home.ts'
import { policiesIn } from '../../tenants/policies.ts'
import type { Tenants } from '../../tenants/tenants.ts'
import { mayHaveAccount } from './open.ts'

type SignUp = Readonly<SignUpRow>

const JOB: Actor = { name: 'service', requestId: '' }
const TENANTS_AT_ONCE = 100

interface NewAccount {
  readonly tenantId: string
  readonly email: string
  readonly name: string
  readonly passwordHash: string
  readonly provenAt: number
}

/** The account of somebody who has shown that they read the mail of this address. */
export async function createSignedUp(
  change: TenantChange,
  { tenantId, email, name, passwordHash, provenAt }: NewAccount,
  actor: Actor,
  content: Readonly<Record<string, string>>,
): Promise<User> {
  const { queries, nowMs } = change
  await requireTenant(queries, tenantId)
  const user: User = {
    ...accountWithoutCredentials({ tenantId, username: email, email, name }, nowMs),
    passwordHash,
    passwordChangedAt: nowMs,
    emailProvenAt: provenAt,
  }
  await insertUser(queries, user)
  const about = { user_id: user.userId, ...content }
  await change.audit(actor, { action: 'user.created', tenantId, content: about })
  await joinFirstGroups(change, user, actor)
  return user
}

/**
 * As the policy says now; a group that has gone since, or that a provider has come to manage, is left out.
 * Nobody has a token yet that would say otherwise.
 */
async function joinFirstGroups(
  change: TenantChange,
  { tenantId, userId }: Pick<User, 'tenantId' | 'userId'>,
  actor: Actor,
): Promise<void> {
  const { queries, nowMs } = change
  const { sign_up_groups: groups } = (await policiesIn(queries, tenantId)).password
  const source = 'local'
  for (const group of groups) {
    if ((await findGroup(queries, tenantId, group)) === undefined) continue
    if ((await findScimGroupByName(queries, tenantId, group)) !== undefined) continue
    await insertMembers(queries, [{ tenantId, group, userId, source, createdAt: nowMs }])
    const content = { group, user_id: userId, source }
    await change.audit(actor, { action: 'group.member_added', tenantId, content })
  }
}

export function createSignUps({
  store,
  tenants,
  mails,
  baseUrl,
}: {
  readonly store: Store
  readonly tenants: Pick<Tenants, 'redirectUris'>
  readonly mails: Mails
  readonly baseUrl: string
}) {
  async function requireWaiting(change: Change, tenantId: string, signUpId: string) {
    const row = await findSignUp(change.queries, tenantId, signUpId)
    if (row === undefined) throw new Refusal('sign_up_not_found')
    await deleteSignUp(change.queries, tenantId, signUpId)
    return row
  }

  async function tenantIn({ queries }: Change, tenantId: string) {
    const tenant = await findTenant(queries, tenantId)
    if (tenant === undefined) throw new Refusal('tenant_not_found')
    return tenant
  }

  /** Where they came from, if that is still the tenant's: a hostname may be somebody else's by now. */
  function linkFor(tenant: Parameters<Tenants['redirectUris']>[0], { applicationUrl }: SignUp) {
    const homes = tenants.redirectUris(tenant).map(applicationHomeOf)
    return homes.find((url) => url === applicationUrl) ?? homes[0] ?? ''
  }

  /** So many as have come meanwhile are one mail, and no word of theirs is in it. */
  async function tell(change: TenantChange, tenantId: string): Promise<void> {
    const { queries, nowMs } = change
    const tenant = await findTenant(queries, tenantId)
    if (tenant === undefined) return
    const recipients = await administratorEmails(queries, tenantId, LIMITS.alertEmailRecipientsMax)
    const rate = LIMITS.rateSignUpNotices
    const bucket = { kind: 'sign-up notices', key: tenantId, rate }
    if (recipients.length > 0 && (await takeRate(change, bucket)) !== undefined) return
    const text = mailTextsFor('').signUpsWait({
      tenant: tenant.name,
      count: await countSignUps(queries, tenantId),
      link: `${baseUrl}/console/tenants/${tenantId}/sign-ups`,
    })
    for (const to of recipients) await mails.queue(change, tenantId, letter(to, text))
    await noteSignUpsTold(queries, tenantId, nowMs)
  }

  return {
    async list(tenantId: string, page: PageRequest): Promise<Page<SignUp>> {
      const [createdAt, signUpId] = decodeCursor(page.cursor, 'number', 'string') ?? []
      const behind =
        createdAt === undefined || signUpId === undefined ? undefined : { createdAt, signUpId }
      const rows = await signUpsAfter(store.read, tenantId, behind, page.limit + 1)
      return toPage(rows, page.limit, (row) => [row.createdAt, row.signUpId])
    },

    async get(tenantId: string, signUpId: string): Promise<SignUp> {
      const row = await findSignUp(store.read, tenantId, signUpId)
      if (row === undefined) throw new Refusal('sign_up_not_found')
      return row
    },

    waiting: (tenantId: string): Promise<number> => countSignUps(store.read, tenantId),

    /** Everything that the request was held against is looked at once more: much may have changed. */
    async approve(tenantId: string, signUpId: string, actor: Actor): Promise<User> {
      const user = await store.change(async (change) => {
        const row = await requireWaiting(change, tenantId, signUpId)
        if (!(await mayHaveAccount(change.queries, tenantId, row)))
          throw new Refusal('sign_up_closed')
        const user = await createSignedUp(change, row, actor, { sign_up_id: signUpId })
        const tenant = await tenantIn(change, tenantId)
        const facts = { application: tenant.name, name: row.name, link: linkFor(tenant, row) }
        const text = mailTextsFor(row.language).signUpApproved(facts)
        await mails.queue(change, tenantId, letter(row.email, text))
        return user
      })
      void mails.deliver()
      return user
    },

    async refuse(tenantId: string, signUpId: string, actor: Actor): Promise<SignUp> {
      const refused = await store.change(async (change) => {
        const row = await requireWaiting(change, tenantId, signUpId)
        const { name: application } = await tenantIn(change, tenantId)
        const text = mailTextsFor(row.language).signUpRefused({ application, name: row.name })
        await mails.queue(change, tenantId, letter(row.email, text))
        const content = { sign_up_id: signUpId, email: row.email }
        await change.audit(actor, { action: 'sign_up.refused', tenantId, content })
        return row
      })
      void mails.deliver()
      return refused
    },

    /** Administrators learn of those who have come since they were told last. */
    async tellAdministrators(isClosed: () => boolean): Promise<void> {
      for (let after: string | undefined = ''; after !== undefined && !isClosed();) {
        const tenants = await tenantsWithUntoldSignUps(store.read, after, TENANTS_AT_ONCE)
        for (const tenantId of tenants)
          await store.changeOf(tenantId, (change) => tell(change, tenantId))
        after = tenants.at(-1)
      }
      void mails.deliver()
    },

    prune: (limit: number): Promise<number> =>
      store.change(async (change) => {
        const gone = await deleteSignUpsExpiredBefore(change.queries, change.nowMs, limit)
        for (const { tenantId, email } of gone)
          await change.audit(JOB, { action: 'sign_up.expired', tenantId, content: { email } })
        return gone.length
      }),
  }
}
