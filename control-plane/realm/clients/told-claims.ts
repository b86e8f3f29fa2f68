/** What of a person the realm tells, and whom: the tenant's application, or another one. */
import { LIMITS } from '../../../shared/limits.ts'
import type { User } from '../../accounts/users.ts'
import { membershipsOf } from '../../store/queries/access.ts'
import type { RealmWorld } from '../world.ts'

interface Asking {
  /** Another application; undefined: the tenant's own. */
  readonly clientId: string | undefined
  /** `id_token` or `userinfo`. */
  readonly use: string
}

export async function toldClaims(
  world: Pick<RealmWorld, 'store' | 'realmClients'>,
  user: User,
  { clientId, use }: Asking,
) {
  const { userId, name, email, username, emailProvenAt } = user
  const own = { sub: userId, name, email }
  // the token of the tenant's application is its session, which every request carries
  if (clientId === undefined && use !== 'userinfo') return own
  const more = {
    ...own,
    preferred_username: username,
    // by a link or a code that was sent there: no word of a directory, a provider or an administrator
    email_verified: emailProvenAt !== null,
  }
  if (clientId === undefined) return more
  const groups = await groupsFor(world, user, clientId)
  return groups === undefined ? more : { ...more, groups }
}

/** undefined: not for this application, or so many that leaving some out would say what is not so. */
async function groupsFor(
  { store, realmClients }: Pick<RealmWorld, 'store' | 'realmClients'>,
  { tenantId, userId }: User,
  clientId: string,
): Promise<readonly string[] | undefined> {
  const client = await realmClients.find(tenantId, clientId)
  if (client?.isToldGroups !== true) return undefined
  const all = new Set((await membershipsOf(store.read, tenantId, userId)).map((one) => one.group))
  return all.size > LIMITS.realmClientGroupsMax ? undefined : [...all].toSorted()
}
