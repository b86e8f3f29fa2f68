/**
 * Provisioned people who sign in by a connection: where a token says so, `externalId` is the subject
 * there. It is the provider's own id of somebody, said by who may say it, and no address.
 */
import {
  deleteIdentityOf,
  findConnection,
  findIdentity,
  insertIdentity,
} from '../store/queries/connections.ts'
import type { ScimPersonRow } from '../store/queries/scim.ts'
import type { Change } from '../store/store.ts'
import { ScimError } from './scim-error.ts'
import type { ScimToken } from './tokens.ts'

export async function rememberSubject(
  { queries, nowMs }: Pick<Change, 'queries' | 'nowMs'>,
  { tenantId, connectionId }: ScimToken,
  { userId, externalId: subject }: ScimPersonRow,
): Promise<void> {
  if (connectionId === null) return
  const connection = await findConnection(queries, tenantId, connectionId)
  if (connection === undefined) return
  await deleteIdentityOf(queries, tenantId, connectionId, userId)
  if (subject === null) return
  const { issuer } = connection
  const known = await findIdentity(queries, tenantId, connectionId, issuer, subject)
  if (known !== undefined)
    throw new ScimError(
      409,
      'Someone already signs in by this connection with that externalId. Delete that account in the console, then try again.',
      'uniqueness',
    )
  const row = { connectionId, issuer, subject, tenantId, userId, createdAt: nowMs }
  await insertIdentity(queries, row)
}
