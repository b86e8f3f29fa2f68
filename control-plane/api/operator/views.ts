/** How the operator API shows things. Secrets are not among what goes in, so none comes out. */
import { viewOf } from '../../requests/field-names.ts'
import type { Session } from '../../sessions/sessions.ts'
import type { User } from '../../accounts/users.ts'
import type { AuditRow } from '../../store/queries/audit.ts'
import { logoUrlOf } from '../../tenants/logo.ts'
import { issuerOf } from '../../../shared/issuer.ts'
import { clientIdOf, type ProtectionState, type Tenant } from '../../tenants/tenants.ts'
import {
  AuditEntry,
  ProtectionAnswer,
  Session as SessionAnswer,
  Tenant as TenantAnswer,
  User as UserAnswer,
} from '../answer-fields.ts'

interface ViewWorld {
  readonly baseUrl: string
  readonly edgeUrlFor: (hostname: string) => string
}

const ofTenant = viewOf(TenantAnswer)

export function tenantView(tenant: Tenant, { baseUrl, edgeUrlFor }: ViewWorld) {
  const issuer = issuerOf(baseUrl, tenant.tenantId)
  return ofTenant({
    ...tenant,
    licenceBlocksSigninWhenExpired: tenant.licenceExpiryBlocks,
    edgeUrls: Object.fromEntries(tenant.hostnames.map((name) => [name, edgeUrlFor(name)])),
    brandLogoUrl: logoUrlOf(issuer, tenant) ?? null,
    issuer,
    clientId: clientIdOf(tenant.tenantId),
  })
}

const ofProtection = viewOf(ProtectionAnswer)

export const protectionView = (state: ProtectionState) => ofProtection({ ...state, at: state.atMs })

const ofUser = viewOf(UserAnswer)

export const userView = (user: User) => ofUser({ ...user, disabled: user.isDisabled })

const ofSession = viewOf(SessionAnswer)

export function sessionView(session: Session, nowMs: number) {
  const isOver = session.expiresAt <= nowMs
  const state = session.endedAt !== null ? 'ended' : isOver ? 'expired' : 'active'
  return ofSession({ ...session, state })
}

const ofEntry = viewOf(AuditEntry)

export const auditView = (entry: AuditRow) => ofEntry({ ...entry, details: entry.content })
