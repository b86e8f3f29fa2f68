/**
 * Provisioned people who sign in by a connection: where a token says so, `externalId` is the subject
 * there. It is the provider's own id of somebody, said by who may say it, and no address. Whoever came in by
 * another one is out, as where an administrator takes it away: that may have been somebody else.
 */
import { revokeIn, type RevocationResult } from '../sessions/revocations.ts'
import {
  deleteIdentityOf,
  findConnection,
  findIdentity,
  insertIdentity,
  identitiesOfPerson,
} from '../store/queries/connections.ts'
import type { ScimPersonRow } from '../store/queries/scim.ts'
import type { Change } from '../store/store.ts'
import { ScimError } from './scim-error.ts'
import type { ScimToken } from './tokens.ts'

export async function rememberSubject(
  change: Change,
  { tenantId, connectionId }: ScimToken,
  { userId, externalId: subject }: ScimPersonRow,
): Promise<RevocationResult | undefined> {
  const { queries, nowMs } = change
  if (connectionId === null) return undefined
  const connection = await findConnection(queries, tenantId, connectionId)
  if (connection === undefined) return undefined
  const { issuer } = connection
  const own = await identitiesOfPerson(queries, tenantId, userId)
  const isReplaced = own
    .filter((one) => one.connectionId === connectionId)
    .some((one) => one.issuer !== issuer || one.subject !== subject)
  await deleteIdentityOf(queries, tenantId, connectionId, userId)
  const ended = isReplaced
    ? await revokeIn(change, tenantId, { subject: userId }, 'revoked')
    : undefined
  if (subject === null) return ended
  const known = await findIdentity(queries, tenantId, connectionId, issuer, subject)
  if (known !== undefined)
    throw new ScimError(
      409,
      'Someone already signs in by this connection with that externalId. Delete that account in the console, then try again.',
      'uniqueness',
    )
  const row = { connectionId, issuer, subject, tenantId, userId, createdAt: nowMs }
  await insertIdentity(queries, row)
  return ended
}
