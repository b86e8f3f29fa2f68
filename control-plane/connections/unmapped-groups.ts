/**
 * Groups that no connection maps any more: whoever is in one of them by a connection is in it no longer,
 * since no sign-in would take that away, and no administrator can. Also what a process that ended has left.
 */
import type { Queries } from '../store/engine.ts'
import { connectedGroups, someConnectedMembers } from '../store/queries/access.ts'
import { connectionsOf } from '../store/queries/connections.ts'
import { samlConnectionsOf } from '../store/queries/saml.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { alterMembershipsIn } from '../tenants/memberships.ts'

const AT_ONCE = 400

export async function takeUnmapped(store: Store, tenantId: string, actor: Actor): Promise<void> {
  const held = new Set(await connectedGroups(store.read, tenantId))
  if (held.size === 0) return
  for (const group of held.difference(await mappedIn(store.read, tenantId)))
    while (
      await store.change(async (change) => {
        const isMapped = (await mappedIn(change.queries, tenantId)).has(group)
        return !isMapped && takeSome(change, tenantId, group, actor)
      })
    );
}

export async function mappedIn(queries: Queries, tenantId: string): Promise<ReadonlySet<string>> {
  const saml = await samlConnectionsOf(queries, tenantId)
  const mapping = [
    ...saml.filter(({ groupsAttribute }) => groupsAttribute !== null),
    ...(await connectionsOf(queries, tenantId)),
  ]
  return new Set(mapping.flatMap(({ groups }) => groups.map(({ group }) => group)))
}

/** False: nobody has been in it by a connection any more. */
export async function takeSome(
  change: Change,
  tenantId: string,
  group: string,
  actor: Actor,
): Promise<boolean> {
  const { queries } = change
  const ofGroup = { tenantId, group, source: 'connection' } as const
  const userIds = await someConnectedMembers(queries, ofGroup, AT_ONCE)
  if (userIds.length === 0) return false
  await alterMembershipsIn(change, ofGroup, { add: [], take: userIds })
  const whom = userIds.length === 1 ? { user_id: userIds[0] } : { users: userIds.length }
  const content = { group, source: ofGroup.source, ...whom }
  await change.audit(actor, { action: 'group.member_removed', tenantId, content })
  // who comes behind the last ones is in it anew: whoever waited for nobody to be might wait for ever
  return userIds.length === AT_ONCE
}
