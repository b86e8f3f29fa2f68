/** How the operator API shows things. Secrets are not among what goes in, so none comes out. */
import type { Session } from '../../sessions/sessions.ts'
import type { User } from '../../accounts/users.ts'
import type { AuditRow } from '../../store/queries/audit.ts'
import { logoUrlOf } from '../../tenants/logo.ts'
import { issuerOf } from '../../../shared/issuer.ts'
import { clientIdOf, type ProtectionState, type Tenant } from '../../tenants/tenants.ts'

export interface ViewWorld {
  readonly baseUrl: string
  readonly edgeUrlFor: (hostname: string) => string
}

export function tenantView(tenant: Tenant, { baseUrl, edgeUrlFor }: ViewWorld) {
  const issuer = issuerOf(baseUrl, tenant.tenantId)
  return {
    tenant_id: tenant.tenantId,
    name: tenant.name,
    mode: tenant.mode,
    plan: tenant.plan,
    status: tenant.status,
    protection: tenant.protection,
    licence: tenant.licence,
    licence_blocks_signin: tenant.licenceBlocksSignin,
    licence_grace_from: isoOrNull(tenant.licenceGraceFrom),
    licence_expires_at: isoOrNull(tenant.licenceExpiresAt),
    licence_blocks_signin_when_expired: tenant.licenceExpiryBlocks,
    hostnames: tenant.hostnames,
    edge_urls: Object.fromEntries(tenant.hostnames.map((name) => [name, edgeUrlFor(name)])),
    origin: tenant.origin,
    sealed: tenant.sealed,
    excluded: tenant.excluded,
    health: tenant.health,
    max_session_seconds: tenant.maxSessionSeconds,
    idle_seconds: tenant.idleSeconds,
    session_binding: tenant.sessionBinding,
    time_zone: tenant.timeZone,
    brand_colour: tenant.brandColour,
    brand_logo_url: logoUrlOf(issuer, tenant) ?? null,
    backchannel_logout_uri: tenant.backchannelLogoutUri,
    issuer,
    client_id: clientIdOf(tenant.tenantId),
    revision: tenant.revision,
    created_at: iso(tenant.createdAt),
    updated_at: iso(tenant.updatedAt),
    published_at: isoOrNull(tenant.publishedAt),
    protection_at: isoOrNull(tenant.protectionAt),
    integration_completed_at: isoOrNull(tenant.integrationCompletedAt),
  }
}

export function protectionView({ tenantId, protection, atMs }: ProtectionState) {
  return { tenant_id: tenantId, protection, at: iso(atMs) }
}

export function userView(user: User) {
  return {
    user_id: user.userId,
    username: user.username,
    email: user.email,
    name: user.name,
    disabled: user.isDisabled,
    /** `directory`: known by the tenant's own database. */
    source: user.source,
    created_at: iso(user.createdAt),
    updated_at: iso(user.updatedAt),
  }
}

export function sessionView(session: Session, nowMs: number) {
  return {
    sid: session.sid,
    user_id: session.userId,
    state: session.endedAt !== null ? 'ended' : session.expiresAt <= nowMs ? 'expired' : 'active',
    ip: session.ip,
    user_agent: session.userAgent,
    created_at: iso(session.createdAt),
    issued_at: iso(session.issuedAt),
    expires_at: iso(session.expiresAt),
    last_seen_at: iso(session.lastSeenAt),
    ended_at: isoOrNull(session.endedAt),
    end_reason: session.endReason,
  }
}

export function auditView(entry: AuditRow) {
  return {
    sequence: entry.sequence,
    at: iso(entry.at),
    actor: entry.actor,
    actor_id: entry.actorId,
    action: entry.action,
    tenant_id: entry.tenantId,
    details: entry.content,
    request_id: entry.requestId,
  }
}

export const iso = (ms: number) => new Date(ms).toISOString()
export const isoOrNull = (ms: number | null) => (ms === null ? null : iso(ms))
