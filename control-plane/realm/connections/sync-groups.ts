/**
 * Groups that a provider says somebody is in, as far as their connection maps them: those and no others
 * are given and taken here, and what somebody is in by another source stays. By one that was changed or
 * removed since it was asked nobody is put into a group: nobody would take them out again.
 */
import type { User } from '../../accounts/users.ts'
import type { MappedGroups } from '../../connections/mapped-groups.ts'
import type { Queries } from '../../store/engine.ts'
import { findGroup, membershipsOf } from '../../store/queries/access.ts'
import { findConnection, type ConnectionRow } from '../../store/queries/connections.ts'
import { findUser } from '../../store/queries/users.ts'
import { alterMembershipsIn } from '../../tenants/memberships.ts'
import type { RealmWorld } from '../world.ts'

const SOURCE = 'connection'

type Whose = Pick<User, 'tenantId' | 'userId'>

export async function syncGroups(
  { store }: Pick<RealmWorld, 'store'>,
  { connectionId, updatedAt }: Pick<ConnectionRow, 'connectionId' | 'updatedAt'>,
  whose: Whose,
  groups: MappedGroups | undefined,
  requestId: string,
): Promise<void> {
  // most of the time nothing has changed, and nothing is written
  if (groups === undefined || (await changesIn(store.read, whose, groups)).length === 0) return
  const { tenantId, userId } = whose
  await store.change(async (change) => {
    const { queries } = change
    const connection = await findConnection(queries, tenantId, connectionId)
    if (connection?.updatedAt !== updatedAt) return
    if ((await findUser(queries, tenantId, userId)) === undefined) return
    for (const { group, isIn } of await changesIn(queries, whose, groups)) {
      const wished = { add: isIn ? [userId] : [], take: isIn ? [] : [userId] }
      await alterMembershipsIn(change, { tenantId, group, source: SOURCE }, wished)
      const action = isIn ? 'group.member_added' : 'group.member_removed'
      const content = { group, user_id: userId, source: SOURCE }
      await change.audit({ name: 'realm', requestId }, { action, tenantId, content })
    }
  })
}

async function changesIn(
  queries: Queries,
  { tenantId, userId }: Whose,
  { isIn, isNotIn }: MappedGroups,
) {
  const rows = await membershipsOf(queries, tenantId, userId)
  const held = new Set(rows.filter(({ source }) => source === SOURCE).map(({ group }) => group))
  const changes = []
  for (const group of isIn) {
    // it may have been deleted since it was mapped
    const isThere = !held.has(group) && (await findGroup(queries, tenantId, group)) !== undefined
    if (isThere) changes.push({ group, isIn: true })
  }
  for (const group of isNotIn) if (held.has(group)) changes.push({ group, isIn: false })
  return changes
}
