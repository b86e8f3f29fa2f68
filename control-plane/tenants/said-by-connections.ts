/** What connections have said of a person goes with the last way to say it anew: groups and attributes. */
import { LIMITS } from '../../shared/limits.ts'
import { someMembershipsBy } from '../store/queries/access.ts'
import type { Actor, Change } from '../store/store.ts'
import { alterMembershipsIn } from './memberships.ts'
import { alterAttributesIn } from './person-attributes.ts'

const GROUPS_AT_ONCE = 100
/** A connection may say some anew meanwhile, as often as they come in by it. */
export const TAKING_ROUNDS_MAX = LIMITS.groupsPerTenantMax / GROUPS_AT_ONCE

/** A connection that they come in by still says anew what it is. Whether there may be more groups. */
export async function takeSaidIn(
  change: Change,
  tenantId: string,
  userId: string,
  actor: Actor,
): Promise<boolean> {
  const source = 'connection'
  const some = await someMembershipsBy(change.queries, tenantId, userId, source, GROUPS_AT_ONCE)
  for (const { group } of some) {
    await alterMembershipsIn(change, { tenantId, group, source }, { add: [], take: [userId] })
    const content = { group, user_id: userId, source }
    await change.audit(actor, { action: 'group.member_removed', tenantId, content })
  }
  await alterAttributesIn(change, { tenantId, userId, source }, { attributes: [] }, actor)
  return some.length === GROUPS_AT_ONCE
}
