/** By which accounts at providers a person signs in; an administrator may take each away. */
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { revokeIn, type RevocationResult } from '../sessions/revocations.ts'
import {
  connectionsOf,
  deleteIdentityOf,
  identitiesOfPerson,
} from '../store/queries/connections.ts'
import { someMembershipsBy } from '../store/queries/access.ts'
import type { Queries } from '../store/engine.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { alterMembershipsIn } from '../tenants/memberships.ts'
import { alterAttributesIn } from '../tenants/person-attributes.ts'

export interface Identity {
  readonly connectionId: string
  /** Of the connection. */
  readonly name: string
  readonly issuer: string
  readonly subject: string
  readonly createdAt: number
}

export function createIdentities({ store }: { store: Store }) {
  return {
    /** The oldest first. */
    async list(tenantId: string, userId: string): Promise<readonly Identity[]> {
      const all = await connectionsOf(store.read, tenantId)
      const names = new Map(all.map(({ connectionId, name }) => [connectionId, name]))
      const own = await identitiesOfPerson(store.read, tenantId, userId)
      return own.map(({ connectionId, issuer, subject, createdAt }) => {
        return { connectionId, name: names.get(connectionId) ?? '', issuer, subject, createdAt }
      })
    },

    /**
     * Nobody comes in by it any more, and whoever has is out: which sessions those are is not known. The
     * groups that a provider has said may be thousands, and go some at a time behind it: whoever is
     * interrupted removes it again, while some are left that no connection says.
     */
    async remove(
      tenantId: string,
      userId: string,
      connectionId: string,
      actor: Actor,
    ): Promise<RevocationResult> {
      const { isMore, ended } = await store.change(async (change) => {
        const { queries } = change
        const isGone = await deleteIdentityOf(queries, tenantId, connectionId, userId)
        if (!isGone && !(await hasLeftGroups(queries, tenantId, userId)))
          throw new Refusal('identity_not_found')
        const content = { user_id: userId, connection_id: connectionId }
        if (isGone) await change.audit(actor, { action: 'user.disconnected', tenantId, content })
        const isMore = await takeGroups(change, tenantId, userId, actor)
        const said = { attributes: [] } // nothing more by any connection, as with groups
        await alterAttributesIn(change, { tenantId, userId, source: 'connection' }, said, actor)
        return { isMore, ended: await revokeIn(change, tenantId, { subject: userId }, 'revoked') }
      })
      const takeMore = (change: Change) => takeGroups(change, tenantId, userId, actor)
      // another connection may say some anew meanwhile, as often as they come in by it
      for (let round = 1; isMore && round < ROUNDS_MAX; round++)
        if (!(await store.change(takeMore))) break
      return ended
    },
  }
}

async function hasLeftGroups(queries: Queries, tenantId: string, userId: string) {
  if ((await identitiesOfPerson(queries, tenantId, userId)).length > 0) return false
  return (await someMembershipsBy(queries, tenantId, userId, 'connection', 1)).length > 0
}

const GROUPS_AT_ONCE = 100
const ROUNDS_MAX = LIMITS.groupsPerTenantMax / GROUPS_AT_ONCE

/** A connection that they come in by still says anew which those are. Whether there may be more. */
async function takeGroups(change: Change, tenantId: string, userId: string, actor: Actor) {
  const source = 'connection'
  const some = await someMembershipsBy(change.queries, tenantId, userId, source, GROUPS_AT_ONCE)
  for (const { group } of some) {
    await alterMembershipsIn(change, { tenantId, group, source }, { add: [], take: [userId] })
    const content = { group, user_id: userId, source }
    await change.audit(actor, { action: 'group.member_removed', tenantId, content })
  }
  return some.length === GROUPS_AT_ONCE
}
