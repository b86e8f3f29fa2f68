/** A tenant's users. What comes in here has been parsed; passwords are hashed before the change. */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import {
  findUser,
  findUserByKey,
  insertUser,
  updateUser,
  type UserRow,
} from '../store/queries/users.ts'
import { deleteIdentitiesOf } from '../store/queries/connections.ts'
import { deleteKnownDevicesOf } from '../store/queries/devices.ts'
import { requireTenant } from '../store/queries/tenants.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import type { PasswordProblem } from '../policy/new-password.ts'
import { voidTickets } from '../store/queries/tickets.ts'
import type { TenantPolicies } from '../tenants/policies.ts'
import { takeSaidIn, TAKING_ROUNDS_MAX } from '../tenants/said-by-connections.ts'
import type { PasswordRules, WhosePassword } from './passwords/rules.ts'
import type { PasswordHasher } from './passwords/hasher.ts'
import { fold } from './login-keys.ts'
import {
  checkUsername,
  found,
  patchUserIn,
  replacePassword,
  type Alongside,
  type PatchedUser,
  type UserPatch,
} from './user-changes.ts'
import { createUserLists } from './user-lists.ts'
import { removeUser } from './user-removal.ts'
import { revokeIn, type RevocationResult } from '../sessions/revocations.ts'

export type User = Readonly<UserRow>

interface NewUser {
  readonly username: string
  readonly email: string
  readonly name: string
  readonly password: string
}
export type { UserPatch }

/** Why a sign-in was refused: for the log and the event, never for the person who tried. */
type AuthenticationRefusal =
  | 'unknown_user'
  | 'wrong_password'
  | 'disabled'
  | 'ambiguous'
  | 'hash_unusable'
export type Authentication =
  | { readonly kind: 'ok'; readonly user: User }
  | {
      readonly kind: 'refused'
      readonly reason: AuthenticationRefusal
      readonly user?: User
      /** Who was meant, where somebody else knows them who has never signed in to us. */
      readonly subject?: string
    }

/** The password is right, and the account still none that we can let in. */
export class AccountUnusable extends Refusal {
  readonly subject: string

  constructor(subject: string) {
    super('directory_account_unusable')
    this.subject = subject
  }
}

/** Users that are kept elsewhere; undefined where a tenant keeps its own here. */
export interface UserSource {
  authenticate(
    tenantId: string,
    foldedLogin: string,
    password: string,
  ): Promise<Authentication | undefined>
}

export type Users = ReturnType<typeof createUsers>

interface UsersWorld {
  readonly store: Store
  readonly passwords: PasswordHasher
  readonly passwordRules: PasswordRules
  readonly policies: Pick<TenantPolicies, 'of' | 'isDecided'>
  readonly clock: Clock
  readonly directories?: UserSource
}

interface ChosenBy {
  readonly reason?: string
  /** The way here was a link in a mail: the password from before may be anybody's. */
  readonly isMailProven?: boolean
  /** What has to hold, or to happen, in the same change. */
  readonly alongside?: (change: Change, before: User) => Promise<void>
}

/** For the API; a page says the same in the person's language. */
const PASSWORD_SENTENCES: Readonly<Record<PasswordProblem, string>> = {
  password_too_short: 'The password is shorter than the policy of this tenant allows.',
  password_too_long: 'The password is longer than a password may be.',
  password_too_weak: 'The password is too easy to guess for the policy of this tenant.',
  password_breached: 'The password is on the list of passwords that everybody knows.',
  password_used_before: 'The person has used this password before.',
}

export function createUsers(world: UsersWorld) {
  const { store, passwords, passwordRules, policies, clock } = world

  async function get(tenantId: string, userId: string): Promise<User> {
    return found(await findUser(store.read, tenantId, userId))
  }

  /** An address or a name; names never hold an @ that is not the user's own address. */
  async function byLogin(tenantId: string, login: string): Promise<User | undefined> {
    const key = fold(login)
    const column = key.includes('@') ? 'emailKey' : 'usernameKey'
    return findUserByKey(store.read, tenantId, column, key)
  }

  /**
   * What an operator hands out is judged by a policy that somebody has decided, and by no default:
   * the person will choose another one.
   */
  async function hashGiven(plain: string, whose: WhosePassword): Promise<string> {
    const { tenantId } = whose
    if (await policies.isDecided(tenantId, 'password')) {
      const problem = await passwordRules.check(
        plain,
        whose,
        (await policies.of(tenantId)).password,
      )
      if (problem !== undefined)
        throw new Refusal('field_invalid', { field: 'password' }, PASSWORD_SENTENCES[problem])
    }
    return passwords.hash(plain, tenantId)
  }

  return {
    get,
    byLogin,
    find: (tenantId: string, userId: string): Promise<User | undefined> =>
      findUser(store.read, tenantId, userId),

    /** A password that the person has chosen. It ends every session that the old one opened. */
    async choosePassword(
      tenantId: string,
      userId: string,
      plain: string,
      actor: Actor,
      { reason = 'password_changed', isMailProven = false, alongside }: ChosenBy = {},
    ): Promise<PasswordProblem | undefined> {
      const user = await get(tenantId, userId)
      if (user.source === 'directory') throw new Refusal('user_elsewhere', { field: 'password' })
      const problem = await passwordRules.check(plain, user, (await policies.of(tenantId)).password)
      if (problem !== undefined) return problem
      const passwordHash = await passwords.hash(plain, tenantId)
      // what may be much goes ahead: whoever is interrupted leaves nobody with what a provider has said
      const takeMore = (change: Change) => takeSaidIn(change, tenantId, userId, actor)
      const isSaidOfOthers = isMailProven && user.emailProvenAt === null
      const takeAll = async () => {
        for (let round = 1; isSaidOfOthers && round < TAKING_ROUNDS_MAX; round++)
          if (!(await store.change(takeMore))) break
      }
      await takeAll()
      await store.change(async (change) => {
        const { queries, nowMs } = change
        const before = found(await findUser(queries, tenantId, userId))
        await alongside?.(change, before)
        const { passwordHash: old } = before
        await replacePassword(change, { tenantId, userId, passwordHash, old })
        await voidTickets(queries, tenantId, userId, nowMs)
        if (isMailProven) {
          // nobody had proven the address: whoever comes in by a provider may be somebody else
          if (before.emailProvenAt === null) {
            await deleteIdentitiesOf(queries, tenantId, userId)
            await takeMore(change)
          }
          await updateUser(queries, tenantId, userId, { emailProvenAt: nowMs })
          await deleteKnownDevicesOf(queries, tenantId, userId) // whoever knew the old one has one
        }
        await revokeIn(change, tenantId, { subject: userId }, reason)
        const content = { user_id: userId, changed: ['password'] }
        await change.audit(actor, { action: 'user.changed', tenantId, content })
      })
      await takeAll() // what the provider has said anew meanwhile
      return undefined
    },

    /** Mail to the address has reached the person: from now on it is theirs. */
    async proveEmail(
      tenantId: string,
      userId: string,
      email: string,
      actor: Actor,
      alongside: (change: Change, before: User) => Promise<void>,
    ): Promise<void> {
      await store.change(async (change) => {
        const { queries, nowMs } = change
        const before = found(await findUser(queries, tenantId, userId))
        const isNamedByIt = before.usernameKey === before.emailKey
        await updateUser(queries, tenantId, userId, {
          email,
          emailKey: fold(email),
          emailProvenAt: nowMs,
          updatedAt: nowMs,
          ...(isNamedByIt && { username: email, usernameKey: fold(email) }),
        })
        await alongside(change, before)
        await voidTickets(queries, tenantId, userId, nowMs)
        const content = { user_id: userId, changed: ['email'] }
        await change.audit(actor, { action: 'user.changed', tenantId, content })
      })
    },

    async create(
      tenantId: string,
      input: NewUser,
      actor: Actor,
      alongside?: (change: Change, user: User) => Promise<void>,
    ): Promise<User> {
      checkUsername(input.username, input.email)
      // '' is nobody's hash: who is invited has none before they choose a password
      const passwordHash =
        input.password === '' ? '' : await hashGiven(input.password, { tenantId, ...input })
      const nowMs = clock.nowMs()
      const user: User = {
        userId: `usr_${randomBytes(16).toString('hex')}`,
        tenantId,
        username: input.username,
        usernameKey: fold(input.username),
        email: input.email,
        emailKey: fold(input.email),
        name: input.name,
        passwordHash,
        isDisabled: false,
        createdAt: nowMs,
        updatedAt: nowMs,
        source: 'own',
        passwordChangedAt: nowMs,
        emailProvenAt: null,
        unlockedAt: null,
        lastSignInAt: 0,
        isFactorRequired: false,
      }
      await store.change(async (change) => {
        await requireTenant(change.queries, tenantId) // it may have gone while we hashed
        await insertUser(change.queries, user)
        const content = { user_id: user.userId }
        await change.audit(actor, { action: 'user.created', tenantId, content })
        await alongside?.(change, user)
      })
      return user
    },

    ...createUserLists(store),

    /** A new password or a disabled account ends what the old one had opened. */
    async patch(
      tenantId: string,
      userId: string,
      patch: UserPatch,
      actor: Actor,
      alongside?: Alongside,
    ): Promise<PatchedUser> {
      const passwordHash =
        patch.password === undefined
          ? undefined
          : await hashGiven(patch.password, { ...(await get(tenantId, userId)), ...patch })
      const patching = { tenantId, userId, patch, passwordHash, actor, alongside }
      return store.change((change) => patchUserIn(change, patching))
    },

    /** Ends a pause that too many failures have begun; the next failure is the first one again. */
    async unlock(tenantId: string, userId: string, actor: Actor): Promise<void> {
      await store.change(async (change) => {
        const { queries, nowMs } = change
        found(await findUser(queries, tenantId, userId))
        await updateUser(queries, tenantId, userId, { unlockedAt: nowMs })
        const content = { user_id: userId }
        await change.audit(actor, { action: 'user.unlocked', tenantId, content })
      })
    },

    remove: (tenantId: string, userId: string, actor: Actor): Promise<RevocationResult> =>
      removeUser(store, { tenantId, userId }, actor),

    /** Computes a hash in every case, so that neither answer nor timing tells who exists. */
    async authenticate(tenantId: string, login: string, password: string): Promise<Authentication> {
      const elsewhere = await world.directories?.authenticate(tenantId, fold(login), password)
      if (elsewhere !== undefined) return elsewhere
      const user = await byLogin(tenantId, login)
      const isRight = await passwords.verify(password, user?.passwordHash, tenantId)
      if (user === undefined) return { kind: 'refused', reason: 'unknown_user' }
      if (!isRight) return { kind: 'refused', reason: 'wrong_password', user }
      if (user.isDisabled) return { kind: 'refused', reason: 'disabled', user }
      return { kind: 'ok', user }
    },
  }
}
