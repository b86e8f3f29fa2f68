/**
 * Everybody who has signed in from a directory has a record among our users, so that sessions,
 * second factors and revocations work for them as for all others. It has no password.
 */
import { createHash } from 'node:crypto'
import { AccountUnusable, fold } from '../accounts/users.ts'
import {
  findUser,
  findUserByKey,
  insertUser,
  updateUser,
  type UserRow,
} from '../store/queries/users.ts'
import type { Queries } from '../store/sqlite.ts'
import type { Store } from '../store/store.ts'
import type { Person } from './person.ts'

/** The same for the same person, in every control plane and after every restart. */
export function shadowIdOf(tenantId: string, externalId: string): string {
  const text = JSON.stringify(['directory', tenantId, externalId])
  return `usr_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
}

/** Why a person that the directory knows cannot be one of our users. For log and audit trail. */
export type ShadowConflict = 'email_taken' | 'username_taken' | 'id_of_somebody_else'

/** `conflict` is told about before the refusal: it names a setting that an operator has to mend. */
export async function keepShadow(
  store: Store,
  tenantId: string,
  person: Person,
  conflict: (kind: ShadowConflict, userId: string) => void,
): Promise<UserRow> {
  const userId = shadowIdOf(tenantId, person.externalId)
  const known = await findUser(store.read, tenantId, userId)
  if (known !== undefined && isUpToDate(known, person)) return known

  return store.change(async ({ queries, nowMs }) => {
    const before = await findUser(queries, tenantId, userId)
    const given = {
      username: person.username,
      usernameKey: fold(person.username),
      email: person.email,
      emailKey: fold(person.email),
      name: person.name,
      updatedAt: nowMs,
    }
    const obstacle = await obstacleTo(queries, tenantId, userId, given, before)
    if (obstacle !== undefined) {
      conflict(obstacle.kind, obstacle.userId)
      throw new AccountUnusable(userId)
    }
    const isSameAddress = before?.emailKey === given.emailKey
    const row: UserRow = {
      userId,
      tenantId,
      passwordHash: '',
      isDisabled: false, // an operator's own decision; the directory's is asked at every sign-in
      createdAt: nowMs,
      source: 'directory',
      passwordChangedAt: 0,
      unlockedAt: null,
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

type Keys = Pick<UserRow, 'usernameKey' | 'emailKey'>

/**
 * An id that suddenly has another name and another address is somebody else's: another database
 * under the same settings, or numbers that were given again. Their factors and sessions must not
 * become this person's.
 */
async function obstacleTo(
  queries: Queries,
  tenantId: string,
  userId: string,
  { usernameKey, emailKey }: Keys,
  before: Keys | undefined,
): Promise<{ readonly kind: ShadowConflict; readonly userId: string } | undefined> {
  if (before !== undefined && before.usernameKey !== usernameKey && before.emailKey !== emailKey)
    return { kind: 'id_of_somebody_else', userId }
  const byEmail = await findUserByKey(queries, tenantId, 'emailKey', emailKey)
  if (byEmail !== undefined && byEmail.userId !== userId)
    return { kind: 'email_taken', userId: byEmail.userId }
  const byName = await findUserByKey(queries, tenantId, 'usernameKey', usernameKey)
  if (byName !== undefined && byName.userId !== userId)
    return { kind: 'username_taken', userId: byName.userId }
  return undefined
}
