/** People as administrators write them: by username or email, or by the ID that the API takes. */
import { Refusal } from '../../../../shared/errors.ts'
import type { Users } from '../../../accounts/users.ts'
import { peopleOf } from './session-table.ts'

export function typedPeople(users: Pick<Users, 'find' | 'byLogin'>) {
  /** The ID of whoever is meant. */
  async function idOf(tenantId: string, typed: string, field: string): Promise<string> {
    const user = (await users.find(tenantId, typed)) ?? (await users.byLogin(tenantId, typed))
    if (user !== undefined) return user.userId
    throw new Refusal('field_invalid', { field }, `No user has the username or email “${typed}”.`)
  }

  return {
    idOf,
    /** Whoever is in the list already stays in it, also when the account is gone. */
    async idsOf(
      tenantId: string,
      typed: readonly string[],
      field: string,
      known: readonly string[],
    ): Promise<string[]> {
      const ids = typed.map(async (one) => (known.includes(one) ? one : idOf(tenantId, one, field)))
      return [...new Set(await Promise.all(ids))]
    },
    /** As they are called; an ID where nobody has it any more. */
    async namesOf(tenantId: string, userIds: readonly string[]): Promise<string[]> {
      const people = await peopleOf(users, tenantId, userIds)
      return userIds.map((userId) => people.get(userId)?.username ?? userId)
    },
  }
}
