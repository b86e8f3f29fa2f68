/** Whoever has shown both, who they are at a provider and that the account here is theirs, has one. */
import { findConnection, findIdentity, insertIdentity } from '../../store/queries/connections.ts'
import type { TenantChange } from '../../store/store.ts'
import type { PendingLink } from './upstream-cookies.ts'

export async function connectIdentity(
  change: TenantChange,
  tenantId: string,
  { connectionId, updatedAt, issuer, subject, userId }: PendingLink,
): Promise<void> {
  const { queries, nowMs } = change
  const connection = await findConnection(queries, tenantId, connectionId)
  if (connection?.state !== 'active' || connection.issuer !== issuer) return
  if (connection.updatedAt !== updatedAt) return // of other settings it is another one
  const known = await findIdentity(queries, tenantId, connectionId, issuer, subject)
  if (known !== undefined) return // theirs since a moment ago, or somebody else's for good
  const row = { connectionId, issuer, subject, tenantId, userId, createdAt: nowMs }
  await insertIdentity(queries, row)
  const content = { user_id: userId, connection_id: connectionId }
  const actor = { name: userId, requestId: '' }
  await change.audit(actor, { action: 'user.connected', tenantId, content })
}
