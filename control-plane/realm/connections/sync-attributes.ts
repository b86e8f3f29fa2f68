/**
 * What a provider says of somebody, as far as their connection maps it; what another source says stays.
 * By one that was changed or removed since it was asked nothing is given: nobody would take it away.
 */
import type { User } from '../../accounts/users.ts'
import { attributesOf } from '../../store/queries/attributes.ts'
import { findConnection, type ConnectionRow } from '../../store/queries/connections.ts'
import { findUser } from '../../store/queries/users.ts'
import { alterAttributesIn, isAnother, type Said } from '../../tenants/person-attributes.ts'
import type { RealmWorld } from '../world.ts'

const SOURCE = 'connection'

export async function syncAttributes(
  { store }: Pick<RealmWorld, 'store'>,
  { connectionId, updatedAt }: Pick<ConnectionRow, 'connectionId' | 'updatedAt'>,
  { tenantId, userId }: Pick<User, 'tenantId' | 'userId'>,
  said: Said,
  requestId: string,
): Promise<void> {
  // most of the time nothing has changed, and nothing is written
  if (!isAnother(await attributesOf(store.read, tenantId, userId), SOURCE, said)) return
  await store.change(async (change) => {
    const connection = await findConnection(change.queries, tenantId, connectionId)
    if (connection?.updatedAt !== updatedAt) return
    if ((await findUser(change.queries, tenantId, userId)) === undefined) return
    const actor = { name: 'realm', requestId }
    await alterAttributesIn(change, { tenantId, userId, source: SOURCE }, said, actor)
  })
}
