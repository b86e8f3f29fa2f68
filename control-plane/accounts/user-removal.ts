/**
 * The end of an account, with everything that hangs on it. That may be very much: tens of thousands of
 * memberships that a provider has given and taken. Then nobody comes in by it from the first change on,
 * what hangs on it goes in slices, and the account with the last of them: whoever is interrupted finds
 * it disabled, and removes it again.
 */
import { Refusal } from '../../shared/errors.ts'
import { deletePastMembershipsOf } from '../store/queries/access-history.ts'
import { deleteMembershipsOf } from '../store/queries/access.ts'
import { deleteAttributesOf, deletePastAttributesOf } from '../store/queries/attributes.ts'
import { deleteIdentitiesOf } from '../store/queries/connections.ts'
import { deleteRolesOf } from '../store/queries/console.ts'
import { disownDevices } from '../store/queries/device-lists.ts'
import { deleteKnownDevicesOf } from '../store/queries/devices.ts'
import { deleteFactors } from '../store/queries/factors.ts'
import { forgetPasswords } from '../store/queries/password-history.ts'
import { deleteInteractionsOf } from '../store/queries/revocations.ts'
import { deleteSomeOfPerson } from '../store/queries/person-removal.ts'
import { deleteScimPerson } from '../store/queries/scim.ts'
import { deleteTicketsOf } from '../store/queries/tickets.ts'
import { deleteUser, findUser } from '../store/queries/users.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { revokeIn, type RevocationResult } from '../sessions/revocations.ts'
import { patchUserIn } from './user-changes.ts'

interface Whose {
  readonly tenantId: string
  readonly userId: string
}

/** `requireIt` refuses in each of the changes. */
export async function removeUser(
  store: Pick<Store, 'change'>,
  { tenantId, userId }: Whose,
  actor: Actor,
  requireIt: (change: Change) => Promise<unknown> = async () => {},
): Promise<RevocationResult> {
  const takeSome = async (change: Change) => {
    const { queries } = change
    await requireIt(change)
    const user = await findUser(queries, tenantId, userId)
    if (user === undefined) throw new Refusal('user_not_found')
    // whoever loses a group or an attribute, and stays, might come in where they could not before
    if (await deleteSomeOfPerson(queries, { tenantId, userId }))
      return removeUserIn(change, tenantId, userId, actor)
    if (!user.isDisabled)
      await patchUserIn(change, { tenantId, userId, actor, patch: { isDisabled: true } })
    return undefined
  }
  let ended: RevocationResult | undefined
  while (ended === undefined) ended = await store.change(takeSome)
  return ended
}

/** Part of other changes as well: with the last role in the console the account goes. */
export async function removeUserIn(
  change: Change,
  tenantId: string,
  userId: string,
  actor: Actor,
): Promise<RevocationResult> {
  const { queries } = change
  if ((await findUser(queries, tenantId, userId)) === undefined) throw new Refusal('user_not_found')
  await deleteUser(queries, tenantId, userId)
  await forgetPasswords(queries, tenantId, userId)
  await deleteTicketsOf(queries, tenantId, userId)
  await deleteFactors(queries, tenantId, userId, ['totp', 'passkey', 'recovery'])
  await deleteKnownDevicesOf(queries, tenantId, userId)
  await disownDevices(queries, tenantId, userId)
  await deleteIdentitiesOf(queries, tenantId, userId)
  await deleteRolesOf(queries, userId)
  await deleteMembershipsOf(queries, tenantId, userId)
  await deletePastMembershipsOf(queries, tenantId, userId)
  await deleteAttributesOf(queries, tenantId, userId)
  await deletePastAttributesOf(queries, tenantId, userId)
  await deleteScimPerson(queries, tenantId, userId)
  await deleteInteractionsOf(queries, tenantId, userId)
  const ended = await revokeIn(change, tenantId, { subject: userId }, 'user_removed')
  const content = { user_id: userId }
  await change.audit(actor, { action: 'user.removed', tenantId, content })
  return ended
}
