/**
 * Whose account somebody gets who has shown who they are at a provider: the one that is connected, or
 * a new one. One that is here already is never taken over for its address alone: whoever has it may
 * not be whoever comes, whichever of both was here first. Only an account that nobody can have opened
 * yet is connected, where the domain of its address is proven for the connection. And of a domain that is
 * proven for one connection no other makes accounts: whoever runs that provider could be anybody there.
 */
import { Refusal } from '../../../shared/errors.ts'
import { withoutUnseen } from '../../../shared/unseen.ts'
import { isEmailAddress } from '../../accounts/email-address.ts'
import { fold } from '../../accounts/login-keys.ts'
import { accountWithoutCredentials } from '../../accounts/user-changes.ts'
import type { User } from '../../accounts/users.ts'
import type { Connection } from '../../connections/connections.ts'
import { domainOfAddress } from '../../connections/email-domain.ts'
import type { UpstreamPerson } from '../../connections/gate.ts'
import { saysNothingOfAddresses } from '../../connections/presets.ts'
import { ProviderProblem } from '../../connections/provider-client.ts'
import { connectionOfDomain } from '../../store/queries/connection-domains.ts'
import { findConnection, findIdentity, insertIdentity } from '../../store/queries/connections.ts'
import type { Queries } from '../../store/engine.ts'
import { requireTenant } from '../../store/queries/tenants.ts'
import { findUserDirectory } from '../../store/queries/user-directories.ts'
import { findUser, findUserByKey, insertUser } from '../../store/queries/users.ts'
import type { RealmWorld } from '../world.ts'
import { isLinkedByDomain } from './link-by-domain.ts'

type WhoComes =
  | { readonly kind: 'known'; readonly user: User }
  /** Theirs once they have shown that it is. */
  | { readonly kind: 'must_prove'; readonly user: User }
  | {
      readonly kind: 'refused'
      readonly problem: 'no_account' | 'email_missing' | 'email_unverified' | 'domain_of_another'
    }

type World = Pick<RealmWorld, 'store'>

export async function whoComes(
  { store }: World,
  connection: Connection,
  { issuer, subject, email, isEmailVerified, name }: UpstreamPerson,
  requestId: string,
): Promise<WhoComes> {
  const { tenantId, connectionId, preset, createsPeople } = connection
  return store.changeOf(tenantId, async (change) => {
    const { queries, nowMs } = change
    await requireTenant(queries, tenantId)
    await requireUnchanged(queries, connection)
    const identity = await findIdentity(queries, tenantId, connectionId, issuer, subject)
    const known = identity && (await findUser(queries, tenantId, identity.userId))
    if (known !== undefined) return { kind: 'known', user: known }

    if (email === undefined || !isEmailAddress(email))
      return { kind: 'refused', problem: 'email_missing' }
    if (!isEmailVerified && !saysNothingOfAddresses(preset))
      return { kind: 'refused', problem: 'email_unverified' }
    const key = fold(email)
    const row = { connectionId, issuer, subject, tenantId, createdAt: nowMs }
    const actor = { name: 'realm', requestId }
    const addressed = await findUserByKey(queries, tenantId, 'emailKey', key)
    if (addressed !== undefined && (await isLinkedByDomain(change, connection, addressed))) {
      const { userId } = addressed
      await insertIdentity(queries, { ...row, userId })
      const content = { user_id: userId, connection_id: connectionId, by: 'domain' }
      await change.audit(actor, { action: 'user.connected', tenantId, content })
      return { kind: 'known', user: addressed }
    }
    const local = addressed ?? (await findUserByKey(queries, tenantId, 'usernameKey', key))
    if (local !== undefined) return { kind: 'must_prove', user: local }
    // whom the tenant's own database knows by this address it tells to who has the password alone
    const isElsewhere = (await findUserDirectory(queries, tenantId)) !== undefined
    if (!createsPeople || isElsewhere) return { kind: 'refused', problem: 'no_account' }
    const home = await homeOf(queries, tenantId, key)
    if (home !== undefined && home !== connectionId)
      return { kind: 'refused', problem: 'domain_of_another' }

    const wished = {
      tenantId,
      username: email,
      email,
      name: withoutUnseen(name ?? '').trim() || email,
    }
    const user = accountWithoutCredentials(wished, nowMs)
    await insertUser(queries, user)
    const { userId } = user
    await insertIdentity(queries, { ...row, userId })
    const content = { user_id: userId, connection_id: connectionId }
    await change.audit(actor, { action: 'user.created', tenantId, content })
    return { kind: 'known', user }
  })
}

/** An answer that was on its way while the connection was changed or closed writes nothing by it. */
async function requireUnchanged(queries: Queries, asked: Connection): Promise<void> {
  const now = await findConnection(queries, asked.tenantId, asked.connectionId)
  if (now?.state !== 'active' || now.updatedAt !== asked.updatedAt)
    throw new ProviderProblem('the connection was changed meanwhile')
}

/** Also while that connection rests: its people are still no other provider's. */
async function homeOf(queries: Queries, tenantId: string, emailKey: string) {
  const domain = domainOfAddress(emailKey)
  return domain && connectionOfDomain(queries, tenantId, domain)
}

/** Two of them at the same moment: the second finds what the first has made. */
export const isOvertaken = (error: unknown) =>
  error instanceof Refusal && (error.code === 'email_taken' || error.code === 'username_taken')
