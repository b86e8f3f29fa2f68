/** The people of the console: invited by mail, with a role from the start, gone with their last one. */
import { Refusal } from '../../shared/errors.ts'
import { removeUserIn } from '../accounts/user-removal.ts'
import type { User } from '../accounts/users.ts'
import { LIMITS } from '../../shared/limits.ts'
import { decodeCursor, toPage, type Page, type PageRequest } from '../store/page.ts'
import {
  ALL_TENANTS,
  deleteWaysInBy,
  deleteRole,
  rolesIn,
  rolesOf,
  upsertRole,
  type ConsoleRoleRow,
} from '../store/queries/console.ts'
import { findUser } from '../store/queries/users.ts'
import { CONSOLE_REALM } from '../store/reserved.ts'
import type { Actor, Change } from '../store/store.ts'
import { give, noteTaken, requireListed, roleFor } from './roles.ts'
import type { ConsoleAccessWorld } from './world.ts'

export interface ConsolePerson {
  readonly user: User
  readonly role: ConsoleRoleRow['role']
  readonly since: number
}

const DISABLED = 'The console account with this email address is disabled.'

interface NewPerson {
  readonly email: string
  readonly name: string
  readonly tenantId?: string
  readonly isReadOnly?: boolean
}

/** `tenantId` is undefined for operators. */
export function createConsolePeople({ store, users, accountMail }: ConsoleAccessWorld) {
  async function withAccount({ userId, role, createdAt }: ConsoleRoleRow) {
    const user = await users.find(CONSOLE_REALM, userId)
    return user && { user, role, since: createdAt }
  }

  /** Who has no password yet, is disabled, or may only look, cannot. */
  async function isRunBySomebody({ queries }: Change, of: string): Promise<boolean> {
    let after = ''
    for (;;) {
      const page = await rolesIn(queries, of, LIMITS.pageItemsMax, after)
      for (const { userId, role } of page) {
        if (role === 'viewer') continue
        const user = await findUser(queries, CONSOLE_REALM, userId)
        if (user !== undefined && !user.isDisabled && user.passwordHash !== '') return true
      }
      const last = page.at(-1)
      if (last === undefined || page.length < LIMITS.pageItemsMax) return false
      after = last.userId
    }
  }

  return {
    async list(tenantId: string | undefined, page: PageRequest): Promise<Page<ConsolePerson>> {
      const [after] = decodeCursor(page.cursor, 'string') ?? []
      const rows = await rolesIn(store.read, tenantId ?? ALL_TENANTS, page.limit + 1, after)
      const { items, next } = toPage(rows, page.limit, ({ userId }) => [userId])
      const people = (await Promise.all(items.map(withAccount)))
        .filter((person) => person !== undefined)
        .sort((a, b) => a.user.emailKey.localeCompare(b.user.emailKey))
      return { items: people, next }
    },

    /** With this very role. */
    async get(userId: string, tenantId = ALL_TENANTS): Promise<ConsolePerson> {
      const rows = await rolesOf(store.read, userId)
      const row = rows.find((role) => role.tenantId === tenantId)
      const person = row && (await withAccount(row))
      if (person === undefined) throw new Refusal('user_not_found')
      return person
    },

    /** Who has a password already gets the role with their account, and no mail: they know the way in. */
    async invite(
      { email, name, tenantId = ALL_TENANTS, isReadOnly = false }: NewPerson,
      actor: Actor,
      language: string,
    ) {
      const known = await users.byLogin(CONSOLE_REALM, email)
      if (known?.isDisabled === true)
        throw new Refusal('field_invalid', { field: 'email' }, DISABLED)
      if (known !== undefined) {
        const { userId, passwordHash } = known
        const giveRole = async (change: Change) => {
          if (tenantId !== ALL_TENANTS) await requireListed(change.queries, tenantId)
          await give(change, userId, tenantId, actor, isReadOnly)
          await requireRun(change, tenantId)
        }
        const isMailed = passwordHash === ''
        if (isMailed) await accountMail.invite(CONSOLE_REALM, userId, actor, language, giveRole)
        else await store.change(giveRole)
        return { user: known, isMailed }
      }
      const account = { username: email, email, name, password: '' }
      const user = await users.create(CONSOLE_REALM, account, actor, async (change, user) => {
        if (tenantId !== ALL_TENANTS) await requireListed(change.queries, tenantId)
        await give(change, user.userId, tenantId, actor, isReadOnly)
        await accountMail.inviteIn(change, user, actor, language)
      })
      accountMail.deliver()
      return { user, isMailed: true }
    },

    /**
     * Takes effect with the person's next request; with the last role the account goes. An
     * administrator leaves at least one colleague, or themselves, who can sign in.
     */
    async letGo(
      userId: string,
      tenantId: string | undefined,
      actor: Actor,
      by: 'operator' | 'administrator' = 'operator',
    ): Promise<void> {
      const of = tenantId ?? ALL_TENANTS
      await store.change(async (change) => {
        await takeRole(change, userId, of, actor)
        if (by === 'administrator' && !(await isRunBySomebody(change, of)))
          throw new Refusal('last_administrator')
        if ((await rolesOf(change.queries, userId)).length === 0)
          await removeUserIn(change, CONSOLE_REALM, userId, actor)
      })
    },

    /** From reading and changing to reading alone, or back; takes effect with the next request. */
    async setRole(
      userId: string,
      tenantId: string | undefined,
      isReadOnly: boolean,
      actor: Actor,
      by: 'operator' | 'administrator' = 'operator',
    ): Promise<ConsolePerson> {
      const of = tenantId ?? ALL_TENANTS
      const role = roleFor(of, isReadOnly)
      return store.change(async (change) => {
        const { queries } = change
        const [row] = (await rolesOf(queries, userId)).filter((one) => one.tenantId === of)
        const user = await findUser(queries, CONSOLE_REALM, userId)
        if (row === undefined || user === undefined) throw new Refusal('user_not_found')
        if (row.role === role) return { user, role, since: row.createdAt }
        await upsertRole(queries, { ...row, role })
        await requireRun(change, of)
        if (isReadOnly && by === 'administrator' && !(await isRunBySomebody(change, of)))
          throw new Refusal('last_administrator')
        // what they have made gives more than they have now
        if (isReadOnly) await deleteWaysInBy(queries, userId, of)
        const content = { user_id: userId, from: { role: row.role }, to: { role } }
        const ofTenant = of === ALL_TENANTS ? {} : { tenantId: of }
        await change.audit(actor, { action: 'console.role_changed', content, ...ofTenant })
        return { user, role, since: row.createdAt }
      })
    },

    /** Every role at once, and the account. */
    async revokeAccess(userId: string, actor: Actor): Promise<void> {
      await store.change(async (change) => {
        const roles = await rolesOf(change.queries, userId)
        for (const { tenantId } of roles) await takeRole(change, userId, tenantId, actor)
        await removeUserIn(change, CONSOLE_REALM, userId, actor)
      })
    },
  }

  /** Whoever is taken out, or may only look from now on, was not the last who runs the service. */
  async function requireRun(change: Change, of: string) {
    if (of === ALL_TENANTS && !(await isRunBySomebody(change, of)))
      throw new Refusal('last_operator')
  }

  async function takeRole(change: Change, userId: string, of: string, actor: Actor) {
    const role = (await rolesOf(change.queries, userId)).find(({ tenantId }) => tenantId === of)
    if (role === undefined) throw new Refusal('user_not_found')
    await deleteRole(change.queries, userId, of)
    if (role.role !== 'viewer') await requireRun(change, of)
    await deleteWaysInBy(change.queries, userId, of)
    await noteTaken(change, role, actor)
  }
}
