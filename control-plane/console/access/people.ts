/** The people of the console: invited by mail, with a role from the start, gone with their last one. */
import { Refusal } from '../../../shared/errors.ts'
import type { AccountMail } from '../../accounts/account-mail.ts'
import type { User, Users } from '../../accounts/users.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ALL_TENANTS, deleteRole, rolesIn, rolesOf } from '../../store/queries/console.ts'
import { findTenant } from '../../store/queries/tenants.ts'
import { CONSOLE_REALM, isReserved } from '../../store/reserved.ts'
import type { Actor, Change, Store } from '../../store/store.ts'
import { give, noteTaken } from './roles.ts'

export interface ConsolePerson {
  readonly user: User
  readonly role: 'operator' | 'administrator'
  readonly since: number
}

export interface Invited {
  readonly user: User
  /** false: they know the way in. */
  readonly isMailed: boolean
}

const DISABLED = 'The account of the console with this address is disabled.'

export interface ConsolePeopleWorld {
  readonly store: Store
  readonly users: Pick<Users, 'create' | 'byLogin' | 'find' | 'remove'>
  readonly accountMail: Pick<AccountMail, 'invite'>
}

export type ConsolePeople = ReturnType<typeof createConsolePeople>

/** `tenantId` is undefined for operators. */
export function createConsolePeople({ store, users, accountMail }: ConsolePeopleWorld) {
  async function requireTenant({ queries }: Pick<Change, 'queries'>, tenantId: string) {
    if (tenantId === ALL_TENANTS) return
    const tenant = isReserved(tenantId) ? undefined : await findTenant(queries, tenantId)
    if (tenant === undefined) throw new Refusal('tenant_not_found')
  }

  return {
    async list(tenantId: string | undefined): Promise<ConsolePerson[]> {
      const rows = await rolesIn(store.read, tenantId ?? ALL_TENANTS, LIMITS.pageItemsMax)
      const people = await Promise.all(
        rows.map(async ({ userId, role, createdAt }) => {
          const user = await users.find(CONSOLE_REALM, userId)
          return user && { user, role, since: createdAt }
        }),
      )
      return people
        .filter((person) => person !== undefined)
        .sort((a, b) => a.user.emailKey.localeCompare(b.user.emailKey))
    },

    /** Who has a password already gets the role with their account, and no mail. */
    async invite(
      { email, name, tenantId = ALL_TENANTS }: { email: string; name: string; tenantId?: string },
      actor: Actor,
      language: string,
    ): Promise<Invited> {
      const known = await users.byLogin(CONSOLE_REALM, email)
      if (known?.isDisabled === true)
        throw new Refusal('field_invalid', { field: 'email' }, DISABLED)
      if (known !== undefined) {
        const { userId, passwordHash } = known
        const giveRole = async (change: Change) => {
          await requireTenant(change, tenantId)
          await give(change, userId, tenantId, actor)
        }
        const isMailed = passwordHash === ''
        if (isMailed) await accountMail.invite(CONSOLE_REALM, userId, actor, language, giveRole)
        else await store.change(giveRole)
        return { user: known, isMailed }
      }
      const account = { username: email, email, name, password: '' }
      const user = await users.create(CONSOLE_REALM, account, actor, async (change, { userId }) => {
        await requireTenant(change, tenantId)
        await give(change, userId, tenantId, actor)
      })
      await accountMail.invite(CONSOLE_REALM, user.userId, actor, language)
      return { user, isMailed: true }
    },

    /** Takes effect with the person's next request. */
    async letGo(userId: string, tenantId: string | undefined, actor: Actor): Promise<void> {
      const isLast = await store.change(async (change) => {
        const of = tenantId ?? ALL_TENANTS
        if (!(await deleteRole(change.queries, userId, of))) throw new Refusal('user_not_found')
        await noteTaken(change, userId, of, actor)
        return (await rolesOf(change.queries, userId)).length === 0
      })
      if (isLast) await users.remove(CONSOLE_REALM, userId, actor)
    },
  }
}
