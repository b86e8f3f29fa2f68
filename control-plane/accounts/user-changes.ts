/** What a change of an account brings with it, whoever asks for it: an operator, or a provider. */
import { randomBytes } from 'node:crypto'
import { Refusal } from '../../shared/errors.ts'
import { revokeIn, type RevocationResult } from '../sessions/revocations.ts'
import { deleteKnownDevicesOf } from '../store/queries/devices.ts'
import { rememberPassword } from '../store/queries/password-history.ts'
import { voidTickets } from '../store/queries/tickets.ts'
import { findUser, updateUser, type UserChanges, type UserRow } from '../store/queries/users.ts'
import type { Actor, Change } from '../store/store.ts'
import { fold, keysOf } from './login-keys.ts'

type User = Readonly<UserRow>

export type UserPatch = Partial<{
  readonly username: string
  readonly email: string
  readonly name: string
  readonly password: string
  readonly isDisabled: boolean
  readonly isFactorRequired: boolean
}>

export interface PatchedUser {
  readonly user: User
  /** Where the change has ended the sessions of the person. */
  readonly ended: RevocationResult | undefined
}

export type Alongside = (change: Change, before: User, after: User) => Promise<void>

interface Patching {
  readonly tenantId: string
  readonly userId: string
  readonly patch: UserPatch
  /** Of the password in the patch: nothing is hashed in a change. */
  readonly passwordHash?: string | undefined
  readonly actor: Actor
  readonly alongside?: Alongside | undefined
}

/** Somebody whom a provider has named: there is no password to guess, and no proven address. */
export function accountWithoutCredentials(
  wished: Pick<User, 'tenantId' | 'username' | 'email' | 'name'>,
  nowMs: number,
): User {
  checkUsername(wished.username, wished.email)
  return {
    ...wished,
    userId: `usr_${randomBytes(16).toString('hex')}`,
    usernameKey: fold(wished.username),
    emailKey: fold(wished.email),
    passwordHash: '',
    isDisabled: false,
    createdAt: nowMs,
    updatedAt: nowMs,
    source: 'own',
    passwordChangedAt: 0,
    emailProvenAt: null, // by somebody else's word alone
    unlockedAt: null,
    lastSignInAt: 0,
    isFactorRequired: false,
  }
}

/** What an audit trail may say of an account. */
const auditedOf = ({ username, email, name, isDisabled, isFactorRequired }: User) => ({
  username,
  email,
  name,
  disabled: isDisabled,
  second_factor_required: isFactorRequired,
})

/** A new password or a disabled account ends what the old one had opened. */
export async function patchUserIn(change: Change, patching: Patching): Promise<PatchedUser> {
  const { tenantId, userId, patch, passwordHash, actor, alongside } = patching
  const { queries } = change
  const before = found(await findUser(queries, tenantId, userId))
  requireOwn(before, patch)
  const username = patch.username ?? before.username
  const email = patch.email ?? before.email
  if (patch.username !== undefined || patch.email !== undefined) checkUsername(username, email)
  const changes: UserChanges = {
    username,
    email,
    ...keysOf({ ...before, username, email }),
    name: patch.name ?? before.name,
    isDisabled: patch.isDisabled ?? before.isDisabled,
    isFactorRequired: patch.isFactorRequired ?? before.isFactorRequired,
    updatedAt: change.nowMs,
    ...(email !== before.email && { emailProvenAt: null }),
  }
  await updateUser(queries, tenantId, userId, changes)
  const { passwordHash: old } = before
  if (passwordHash !== undefined)
    await replacePassword(change, { tenantId, userId, passwordHash, old })
  let ended: RevocationResult | undefined
  if (passwordHash !== undefined) await deleteKnownDevicesOf(queries, tenantId, userId)
  if (passwordHash !== undefined || (patch.isDisabled === true && !before.isDisabled)) {
    const reason = passwordHash === undefined ? 'user_disabled' : 'password_changed'
    ended = await revokeIn(change, tenantId, { subject: userId }, reason)
    await voidTickets(queries, tenantId, userId, change.nowMs)
  }
  // a link went to the address from before, which may be somebody else's
  if (email !== before.email) await voidTickets(queries, tenantId, userId, change.nowMs)
  const after = found(await findUser(queries, tenantId, userId))
  await alongside?.(change, before, after)
  const content = {
    user_id: userId,
    changed: Object.keys(patch),
    from: auditedOf(before),
    to: auditedOf(after),
  }
  await change.audit(actor, { action: 'user.changed', tenantId, content })
  return { user: after, ended }
}

export async function replacePassword(
  { queries, nowMs }: Change,
  change: { tenantId: string; userId: string; passwordHash: string; old: string },
) {
  const { tenantId, userId, passwordHash, old } = change
  await updateUser(queries, tenantId, userId, { passwordHash, passwordChangedAt: nowMs })
  if (old !== '')
    await rememberPassword(queries, { tenantId, userId, passwordHash: old, replacedAt: nowMs })
}

/** What a directory says of a person is true; only whether they may come in is decided here. */
function requireOwn({ source }: User, patch: UserPatch) {
  const elsewhere = (['username', 'email', 'name', 'password'] as const).find((key) => key in patch)
  if (source === 'directory' && elsewhere !== undefined)
    throw new Refusal('user_elsewhere', { field: elsewhere })
}

/**
 * Without this rule a user could take somebody else's address as a username, and whoever types
 * that address would sign in to either account.
 */
export function checkUsername(username: string, email: string) {
  if (fold(username).includes('@') && fold(username) !== fold(email))
    throw new Refusal(
      'field_invalid',
      { field: 'username' },
      'A username with an @ must be the email address of the user.',
    )
}

export function found(user: User | undefined): User {
  if (user === undefined) throw new Refusal('user_not_found')
  return user
}
