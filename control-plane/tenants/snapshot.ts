/**
 * What a gateway is told of one tenant. Pure: the same rows and settings make the same snapshot,
 * byte for byte. So a tenant's revision and `fingerprintOf` all else name it.
 */
import { canonicalJson, snapshotHash } from '../../shared/fleet/digest.ts'
import { closed } from '../../shared/fleet/features.ts'
import { issuerOf } from '../../shared/issuer.ts'
import type { EnforcedRules } from '../../shared/fleet/access-rules.ts'
import type { EnforcedServices } from '../../shared/fleet/services.ts'
import type { TenantSnapshot } from '../../shared/fleet/snapshot.ts'
import type { VerifyingKey } from '../keys/signing-keys.ts'
import type { ConnectorKeyRow } from '../store/queries/connectors.ts'
import type { Tenant } from '../store/queries/tenants.ts'
import type { OpenCertificate } from './certificates.ts'
import type { ClientSecrets } from './client-secrets.ts'
import { clientIdOf } from './tenants.ts'

interface SnapshotParts {
  readonly tenant: Tenant
  readonly keys: readonly VerifyingKey[]
  readonly certificates: readonly OpenCertificate[]
  readonly clientSecrets: ClientSecrets
  readonly connectorKeys: readonly ConnectorKeyRow[]
  /** Of the account that certificates are ordered with; undefined: none are. */
  readonly acmeThumbprint: string | undefined
  /** For which of its hostnames. */
  readonly acmeHostnames: readonly string[]
  /** Undefined: no rules. */
  readonly access?: EnforcedRules | undefined
  readonly accessContact?: string | undefined
  /** Undefined: no machines. */
  readonly services?: EnforcedServices | undefined
  readonly baseUrl: string
  readonly edgeUrlFor: (hostname: string) => string
}

/** A draft is known to nobody, and in sdk mode the application enforces by itself. */
export function isServed({ mode, status }: Pick<Tenant, 'mode' | 'status'>): boolean {
  return mode !== 'sdk' && status !== 'draft'
}

/** null: gateways have nothing to do with this tenant. */
export function buildSnapshot(parts: SnapshotParts): TenantSnapshot | null {
  const { tenant, keys, certificates, clientSecrets, baseUrl, edgeUrlFor } = parts
  const {
    acmeThumbprint: thumbprint,
    acmeHostnames: orderedFor,
    access,
    accessContact,
    services,
  } = parts
  const { current, previous } = clientSecrets
  const { mode, status } = tenant
  if (mode === 'sdk' || status === 'draft') return null
  const snapshot: TenantSnapshot = {
    tenant_id: tenant.tenantId,
    revision: tenant.revision,
    name: tenant.name,
    mode,
    status,
    protection: tenant.protection,
    licence: tenant.licence,
    licence_blocks_signin: tenant.licenceBlocksSignin,
    edge_urls: Object.fromEntries(tenant.hostnames.map((name) => [name, edgeUrlFor(name)])),
    origin: tenant.origin,
    sealed: tenant.sealed,
    excluded: tenant.excluded,
    health: tenant.health,
    max_session_seconds: tenant.maxSessionSeconds,
    idle_seconds: tenant.idleSeconds,
    session_binding: tenant.sessionBinding,
    issuer: issuerOf(baseUrl, tenant.tenantId),
    client_id: clientIdOf(tenant.tenantId),
    client_secret: current,
    ...(previous && { previous_client_secret: previous.secret }),
    keys: [...keys],
    certificates: certificates.map(({ hostname, certificatePem, privateKeyPem }) => ({
      hostname,
      certificate_pem: certificatePem,
      private_key_pem: privateKeyPem,
    })),
    ...(thumbprint !== undefined &&
      orderedFor.length > 0 && { acme: { thumbprint, hostnames: [...orderedFor] } }),
    // left out elsewhere, so that what was told of others before there were any is the same still
    ...(access && { access }),
    ...(accessContact !== undefined && { access_contact: accessContact }),
    ...(services && { services }),
    ...(mode === 'connector' && { connectors: connectorsOf(parts.connectorKeys) }),
  }
  // nobody comes as far as its rules, and nothing that is wrong with them keeps this from being told
  return status === 'suspended' ? closed(snapshot) : snapshot
}

/** Another one wherever settings, or this very program, make other snapshots of the same tenants. */
export function fingerprintOf(
  baseUrl: string,
  edgeUrlFor: SnapshotParts['edgeUrlFor'],
  acmeThumbprint?: string,
): string {
  const parts = {
    acmeThumbprint,
    baseUrl,
    edgeUrlFor,
    clientSecrets: { current: 'secret', previous: undefined },
  }
  const nobody = {
    keys: [],
    certificates: [],
    connectorKeys: [],
    acmeHostnames: ['sample.example.com'],
  }
  const snapshot = buildSnapshot({ ...parts, ...nobody, tenant: SAMPLE as Tenant })
  return snapshotHash(canonicalJson(snapshot)).slice(0, 16)
}

const SAMPLE: Partial<Tenant> = {
  tenantId: 'sample',
  revision: 1,
  name: 'Sample',
  mode: 'connector',
  status: 'published',
  protection: 'on',
  licence: 'active',
  licenceBlocksSignin: false,
  hostnames: ['sample.example.com', 'sample.localhost'],
  origin: 'http://127.0.0.1:3000',
  sealed: ['/admin'],
  excluded: ['/public'],
  health: '/healthz',
  maxSessionSeconds: 28_800,
  idleSeconds: 900,
  sessionBinding: 'off',
}

function connectorsOf(rows: readonly ConnectorKeyRow[]) {
  return [...Map.groupBy(rows, (row) => row.connectorId)].map(([connector_id, keys]) => ({
    connector_id,
    keys: keys.map(({ keyId, publicKey }) => ({ key_id: keyId, public_key: publicKey })),
  }))
}
