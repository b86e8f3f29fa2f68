/** What it stands on: the services that a realm and its accounts are made of. */
import type { Clock } from '../../shared/clock.ts'
import type { AccountMail } from '../accounts/account-mail.ts'
import type { Attempts } from '../accounts/attempts.ts'
import type { AuditTrail } from '../accounts/audit-trail.ts'
import type { Factors } from '../accounts/factors.ts'
import type { Users } from '../accounts/users.ts'
import type { SigningKeys } from '../keys/signing-keys.ts'
import type { Vault } from '../keys/vault.ts'
import type { Revocations } from '../sessions/revocations.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { Store } from '../store/store.ts'
import type { TenantPolicies } from '../tenants/policies.ts'

export interface ConsoleAccessWorld {
  readonly store: Store
  readonly vault: Vault
  readonly keys: Pick<SigningKeys, 'generate' | 'ensureCurrent'>
  readonly users: Users
  readonly sessions: Sessions
  readonly revocations: Pick<Revocations, 'revoke'>
  readonly factors: Factors
  readonly attempts: Attempts
  readonly policies: Pick<TenantPolicies, 'of'>
  readonly auditTrail: AuditTrail
  readonly accountMail: AccountMail
  readonly baseUrl: string
  readonly clock: Clock
}
