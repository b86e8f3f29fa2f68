/**
 * Whether whoever reads an account's mail may be taken for its owner: an address that only a provider has
 * named, at a sign-in or by SCIM, and which nobody has proven, may be somebody else's.
 */
import { identitiesOfPerson } from '../store/queries/connections.ts'
import { findScimPerson } from '../store/queries/scim.ts'
import type { UserRow } from '../store/queries/users.ts'
import type { Queries } from '../store/engine.ts'

type Addressed = Pick<UserRow, 'tenantId' | 'userId' | 'emailProvenAt'>

export async function isKnownByMail(
  queries: Queries,
  { tenantId, userId, emailProvenAt }: Addressed,
): Promise<boolean> {
  if (emailProvenAt !== null) return true
  if ((await findScimPerson(queries, tenantId, userId)) !== undefined) return false
  return (await identitiesOfPerson(queries, tenantId, userId)).length === 0
}
