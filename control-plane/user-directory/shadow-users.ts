/**
 * Everybody who has signed in from a directory has a record among our users, so that sessions,
 * second factors and revocations work for them as for all others. It has no password.
 */
import { createHash } from 'node:crypto'
import { Refusal } from '../../shared/errors.ts'
import { fold, keysOf, sharedKeyOf } from '../accounts/login-keys.ts'
import { AccountUnusable } from '../accounts/users.ts'
import { numberOf } from '../store/queries/tenants.ts'
import {
  findUser,
  findUserByKey,
  insertUser,
  updateUser,
  usersBeginning,
  type UserRow,
} from '../store/queries/users.ts'
import type { Queries } from '../store/engine.ts'
import type { Store } from '../store/store.ts'
import type { Person } from './person.ts'

/** The same for the same person, in every control plane and after every restart. */
export function shadowIdOf(tenantId: string, externalId: string): string {
  const text = JSON.stringify(['directory', tenantId, externalId])
  return `usr_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
}

/** Why a person that the directory knows cannot be one of our users. For the log. */
type ShadowObstacle = 'email_taken' | 'id_of_somebody_else'
/** They come in all the same: the directory tells them apart, and so do we. For the log. */
type ShadowLikeness = 'email_alike' | 'username_alike'
type ShadowConflict = ShadowObstacle | ShadowLikeness

/**
 * `conflict` is told about before a refusal: it names what an operator has to look at. `number`: of the
 * tenant whose directory was asked, which may have taken a while to answer.
 */
export async function keepShadow(
  store: Store,
  tenantId: string,
  person: Person,
  number: number | undefined,
  conflict: (kind: ShadowConflict, userId: string) => void,
): Promise<UserRow> {
  const userId = shadowIdOf(tenantId, person.externalId)
  const known = await findUser(store.read, tenantId, userId)
  if (known !== undefined && isUpToDate(known, person)) return known

  return store.change(async ({ queries, nowMs }) => {
    if (number === undefined || (await numberOf(queries, tenantId)) !== number)
      throw new Refusal('tenant_not_found')
    const before = await findUser(queries, tenantId, userId)
    const { username, email, name } = person
    const keys = keysOf({ source: 'directory', userId, username, email })
    const given = { username, email, name, ...keys, updatedAt: nowMs }
    const obstacle = await obstacleTo(queries, tenantId, userId, person, before)
    if (obstacle !== undefined) {
      conflict(obstacle.kind, obstacle.userId)
      throw new AccountUnusable(userId)
    }
    for (const alike of await likenesses(queries, tenantId, userId, person))
      conflict(alike.kind, alike.userId)
    const isSameAddress = before?.email === email
    const row: UserRow = {
      userId,
      tenantId,
      passwordHash: '',
      isDisabled: false, // an operator's own decision; the directory's is asked at every sign-in
      createdAt: nowMs,
      source: 'directory',
      passwordChangedAt: 0,
      unlockedAt: null,
      lastSignInAt: 0,
      isFactorRequired: false,
      ...before,
      ...given,
      emailProvenAt: isSameAddress ? before.emailProvenAt : null,
    }
    if (before === undefined) await insertUser(queries, row)
    else await updateUser(queries, tenantId, userId, { ...given, emailProvenAt: row.emailProvenAt })
    return row
  })
}

function isUpToDate(known: UserRow, person: Person): boolean {
  const { username, email, name } = known
  return username === person.username && email === person.email && name === person.name
}

interface Conflict<Kind extends ShadowConflict> {
  readonly kind: Kind
  /** Who is in the way, or alike. */
  readonly userId: string
}

async function obstacleTo(
  queries: Queries,
  tenantId: string,
  userId: string,
  person: Person,
  before: UserRow | undefined,
): Promise<Conflict<ShadowObstacle> | undefined> {
  if (before !== undefined && isSomebodyElse(before, person))
    return { kind: 'id_of_somebody_else', userId }
  // one of our own users has it: those are found by it, and an operator has made them
  const own = await findUserByKey(queries, tenantId, 'emailKey', fold(person.email))
  return own && { kind: 'email_taken', userId: own.userId }
}

/**
 * An id that has another name and another address than before is somebody else's: another database
 * under the same settings, or an id that was given again. Their factors and sessions must not become
 * this person's. Where the name or the address is the id itself, it says nothing that the id has
 * not said, and the other one has to be the same.
 */
function isSomebodyElse(before: Pick<UserRow, 'username' | 'email'>, person: Person): boolean {
  const facts = ['username', 'email'] as const
  const same = facts.filter((key) => before[key].toLowerCase() === person[key].toLowerCase())
  if (same.length === facts.length) return false
  return same.every((key) => fold(person[key]) === fold(person.externalId))
}

/** Whose name or address reads like this one, though the directory knows two. */
async function likenesses(
  queries: Queries,
  tenantId: string,
  userId: string,
  { username, email }: Person,
): Promise<Conflict<ShadowLikeness>[]> {
  const alike = async (kind: ShadowLikeness, text: string) => {
    const found = await usersBeginning(queries, tenantId, sharedKeyOf(text), 2)
    const other = found.find((user) => user.userId !== userId)
    return other === undefined ? [] : [{ kind, userId: other.userId }]
  }
  const byEmail = await alike('email_alike', email)
  return username === email ? byEmail : [...byEmail, ...(await alike('username_alike', username))]
}
