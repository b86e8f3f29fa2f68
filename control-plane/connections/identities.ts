/** By which accounts at providers a person signs in; an administrator may take each away. */
import { Refusal } from '../../shared/errors.ts'
import { revokeIn, type RevocationResult } from '../sessions/revocations.ts'
import {
  connectionsOf,
  deleteIdentityOf,
  identitiesOfPerson,
} from '../store/queries/connections.ts'
import { someMembershipsBy } from '../store/queries/access.ts'
import type { Queries } from '../store/engine.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { takeSaidIn, TAKING_ROUNDS_MAX } from '../tenants/said-by-connections.ts'

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
        const isMore = await takeSaidIn(change, tenantId, userId, actor)
        return { isMore, ended: await revokeIn(change, tenantId, { subject: userId }, 'revoked') }
      })
      const takeMore = (change: Change) => takeSaidIn(change, tenantId, userId, actor)
      for (let round = 1; isMore && round < TAKING_ROUNDS_MAX; round++)
        if (!(await store.change(takeMore))) break
      return ended
    },
  }
}

async function hasLeftGroups(queries: Queries, tenantId: string, userId: string) {
  if ((await identitiesOfPerson(queries, tenantId, userId)).length > 0) return false
  return (await someMembershipsBy(queries, tenantId, userId, 'connection', 1)).length > 0
}
