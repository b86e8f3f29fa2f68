/**
 * Whether an account is connected by the word of a provider alone: its address is of a domain that the
 * tenant has proven for this very connection, and nobody can have come in to it yet. Whoever has made
 * it knows nothing that opens it, so there is nothing of theirs to keep out. What was on its way to them
 * by mail opens it no more either.
 */
import type { Connection } from '../../connections/connections.ts'
import { domainOfAddress } from '../../connections/email-domain.ts'
import { connectionOfDomain } from '../../store/queries/connection-domains.ts'
import { identitiesOfPerson } from '../../store/queries/connections.ts'
import { factorsOf } from '../../store/queries/factors.ts'
import { aliveSids } from '../../store/queries/sessions.ts'
import { voidTickets } from '../../store/queries/tickets.ts'
import type { UserRow } from '../../store/queries/users.ts'
import type { Queries } from '../../store/engine.ts'
import type { TenantChange } from '../../store/store.ts'

export async function isLinkedByDomain(
  { queries, nowMs }: TenantChange,
  {
    connectionId,
    preset,
    organization,
  }: Pick<Connection, 'connectionId' | 'preset' | 'organization'>,
  user: UserRow,
): Promise<boolean> {
  const { tenantId, userId } = user
  // an address that was verified once stays so at GitHub: who has left the company has it still
  if (preset === 'github' && organization === null) return false
  const domain = domainOfAddress(user.emailKey)
  if (domain === undefined) return false
  if ((await connectionOfDomain(queries, tenantId, domain)) !== connectionId) return false
  if (!(await isWithoutCredentials(queries, user, nowMs))) return false
  await voidTickets(queries, tenantId, userId, nowMs)
  return true
}

async function isWithoutCredentials(
  queries: Queries,
  { tenantId, userId, source, passwordHash }: UserRow,
  nowMs: number,
): Promise<boolean> {
  if (source !== 'own' || passwordHash !== '') return false
  if ((await factorsOf(queries, tenantId, userId)).length > 0) return false
  if ((await identitiesOfPerson(queries, tenantId, userId)).length > 0) return false
  return (await aliveSids(queries, tenantId, userId, nowMs, 1)).length === 0
}
