/** What the API answers with, field by field. Strict: what is not declared here does not go out. */
import * as v from 'valibot'
import { count, described, time } from '../requests/described.ts'
import {
  LICENCES,
  MODES,
  PLANS,
  PROTECTIONS,
  SESSION_BINDINGS,
} from '../../shared/fleet/snapshot.ts'

/** Of every refusal; the case may add fields, which are named where they matter. */
export const ErrorAnswer = v.looseObject({
  error: described(v.string(), 'For programs: a stable error code.'),
  detail: described(v.string(), 'For people: what went wrong and what to do next.'),
  field: v.optional(described(v.string(), 'The field or parameter at fault.')),
  retry_after: v.optional(described(v.number(), 'Seconds to wait; also in `Retry-After`.')),
})

export const ProtectionAnswer = v.strictObject({
  tenant_id: v.string(),
  protection: v.picklist(PROTECTIONS),
  at: described(time, 'When this state began.'),
})

export const PublicKey = v.strictObject({
  kid: v.string(),
  kty: v.literal('RSA'),
  alg: v.literal('RS256'),
  use: v.literal('sig'),
  n: v.string(),
  e: v.string(),
  status: v.picklist(['current', 'next', 'retired']),
  pem: v.string(),
})

export const KeysAnswer = v.strictObject({ keys: v.array(PublicKey) })

export const Tenant = v.strictObject({
  tenant_id: v.string(),
  name: v.string(),
  mode: v.picklist(MODES),
  plan: v.picklist(PLANS),
  status: v.picklist(['draft', 'published', 'suspended']),
  protection: v.picklist(PROTECTIONS),
  licence: v.picklist(LICENCES),
  licence_blocks_signin: v.boolean(),
  licence_grace_from: described(v.nullable(time), 'When its grace period starts.'),
  licence_expires_at: described(v.nullable(time), 'When it expires.'),
  licence_blocks_signin_when_expired: v.boolean(),
  hostnames: v.array(v.string()),
  edge_urls: described(v.record(v.string(), v.string()), 'The public URL of each hostname.'),
  origin: v.string(),
  sealed: described(v.array(v.string()), 'Paths that return 404 to everyone.'),
  excluded: described(v.array(v.string()), 'Paths open without a sign-in.'),
  health: v.string(),
  max_session_seconds: count,
  idle_seconds: count,
  session_binding: v.picklist(SESSION_BINDINGS),
  time_zone: described(v.string(), 'Time zone of the weekly summary.'),
  brand_colour: v.nullable(v.string()),
  brand_logo_url: v.nullable(v.string()),
  backchannel_logout_uri: v.nullable(v.string()),
  issuer: v.string(),
  client_id: v.string(),
  revision: count,
  created_at: time,
  updated_at: time,
  published_at: v.nullable(time),
  protection_at: v.nullable(time),
  integration_completed_at: described(
    v.nullable(time),
    'When an end-to-end sign-in first succeeded.',
  ),
})

export const NewTenantAnswer = v.strictObject({
  ...Tenant.entries,
  analyzer_key: described(v.string(), 'Shown only once.'),
  client_secret: described(v.string(), 'Shown only once.'),
})

const previousValidUntil = described(
  v.nullable(time),
  'Until then the previous one works too; null: it does not.',
)

export const AnalyzerKeyAnswer = v.strictObject({
  tenant_id: v.string(),
  analyzer_key: described(v.string(), 'Keep it like a password.'),
  previous_valid_until: previousValidUntil,
})

export const ClientSecretAnswer = v.strictObject({
  tenant_id: v.string(),
  client_id: v.string(),
  client_secret: described(v.string(), 'Keep it like a password.'),
  previous_valid_until: previousValidUntil,
})

export const CertificateAnswer = v.strictObject({
  hostname: v.string(),
  not_before: v.string(),
  not_after: v.string(),
  fingerprint_sha256: v.string(),
})

export const CertificateOrderAnswer = v.strictObject({
  state: v.picklist(['waiting', 'in_progress', 'issued']),
  failures: described(count, 'Failed attempts in a row.'),
  problem: described(v.nullable(v.string()), 'Why the last attempt failed, and what to change.'),
  next_attempt_at: described(time, 'When it is continued or checked.'),
  wildcard: described(
    v.nullable(v.string()),
    'The wildcard name in the certificate, like `*.example.com`; null: it is for the hostname alone.',
  ),
})

export const DnsRecordAnswer = v.strictObject({
  name: v.string(),
  target: described(v.string(), 'What a CNAME record of this name points to.'),
  covers: described(v.string(), 'What is ordered then: the hostname, or a wildcard.'),
})

export const HostnameCertificateAnswer = v.strictObject({
  hostname: v.string(),
  source: described(
    v.nullable(v.picklist(['uploaded', 'ordered', 'file'])),
    'Where its certificate comes from; `file`: `control_plane.tls_certificate`; null: it has none.',
  ),
  certificate: v.nullable(CertificateAnswer),
  order: described(
    v.nullable(CertificateOrderAnswer),
    'null: no certificate is ordered, as for hostnames with an uploaded one.',
  ),
  dns_records: described(
    v.array(DnsRecordAnswer),
    'Any one of them lets the certificate be proven by DNS. Empty without `control_plane.acme.dns`.',
  ),
})

export const User = v.strictObject({
  user_id: v.string(),
  username: v.string(),
  email: v.string(),
  name: v.string(),
  disabled: v.boolean(),
  source: described(v.string(), "`directory`: comes from the tenant's own database."),
  created_at: time,
  updated_at: time,
})

export const InvitationAnswer = v.strictObject({ user_id: v.string(), invited: v.literal(true) })

export const Session = v.strictObject({
  sid: v.string(),
  user_id: v.string(),
  state: v.picklist(['active', 'expired', 'ended']),
  ip: v.nullable(v.string()),
  user_agent: v.nullable(v.string()),
  created_at: time,
  issued_at: time,
  expires_at: time,
  last_seen_at: time,
  ended_at: v.nullable(time),
  end_reason: v.nullable(v.string()),
})

const gatewayIds = v.array(v.string())

/** Who goes by a change, or refuses ended sessions, by the time that the answer goes out. */
export const Enforced = v.strictObject({
  gateways: described(count, 'Connected gateways that apply it in all workers.'),
  of: described(count, 'Connected gateways.'),
  pending: v.optional(described(gatewayIds, 'Connected, but did not confirm within a second.')),
  not_durable: v.optional(
    described(gatewayIds, 'Apply it, but could not save it to disk: a restart may lose it.'),
  ),
  unreachable: v.optional(
    described(gatewayIds, 'Not connected: they may still serve the last state they received.'),
  ),
  instances: v.optional(
    v.strictObject({
      of: described(count, 'Application instances that poll.'),
      within_seconds: described(count, 'How soon each of them polls again and applies it.'),
    }),
  ),
})

export const RevocationAnswer = v.strictObject({
  all: v.optional(v.literal(true)),
  subject: v.optional(v.string()),
  sid: v.optional(v.string()),
  not_before: described(count, 'Epoch seconds: sessions issued earlier are invalid.'),
  sessions: described(count, 'How many active sessions this ended.'),
  enforced: Enforced,
})

export const PatchedUserAnswer = v.strictObject({
  ...User.entries,
  enforced: v.optional(described(Enforced, 'If the change ended sessions.')),
})

/** The tenant, and who goes by what was changed of it. */
export const ChangedTenantAnswer = v.strictObject({ ...Tenant.entries, enforced: Enforced })

export const RemovedTenantAnswer = v.strictObject({ tenant_id: v.string(), enforced: Enforced })

export const RevokedGatewayAnswer = v.strictObject({
  gateway_id: v.string(),
  enforced: described(Enforced, 'Which other gateways accept nothing from it any more.'),
})

export const RemovedConnectorAnswer = v.strictObject({
  connector_id: v.string(),
  enforced: Enforced,
})

/** What is published by now, and who no longer takes what was deleted. */
export const RotatedKeysAnswer = v.strictObject({
  ...KeysAnswer.entries,
  enforced: v.optional(described(Enforced, 'If keys were deleted.')),
})

export const RemovedUserAnswer = v.strictObject({ user_id: v.string(), enforced: Enforced })

export const AddressBlock = v.strictObject({
  address: v.string(),
  failures: count,
  created_at: time,
  blocked_until: time,
})

export const Factor = v.strictObject({
  factor_id: v.string(),
  kind: v.string(),
  created_at: time,
  last_used_at: v.nullable(time),
})

const GatewayKey = v.strictObject({
  key_id: v.string(),
  created_at: time,
  last_used_at: described(v.nullable(time), 'When a gateway last connected with it.'),
})

export const NewGatewayKeyAnswer = v.strictObject({
  gateway_id: v.string(),
  key_id: v.string(),
  key: described(v.string(), 'The value for SERVICE_FLEET_KEY of this gateway. Shown only once.'),
  created_at: time,
})

export const Gateway = v.strictObject({
  gateway_id: v.string(),
  version: described(v.nullable(v.string()), 'null: not seen since the control plane started.'),
  connected: v.boolean(),
  key_id: described(
    v.nullable(v.string()),
    'The key it connected with; null: the shared fleet key of the control plane.',
  ),
  keys: described(v.array(GatewayKey), 'Its own keys, oldest first; two during a replacement.'),
  connected_at: v.nullable(time),
  last_seen_at: v.nullable(time),
  revision: described(count, 'The latest revision that all its workers serve.'),
  lag: described(v.number(), 'How many revisions it lags behind.'),
  applied_at: described(v.nullable(time), 'When it last confirmed a revision.'),
  durable: described(v.boolean(), 'Whether the state it serves is also saved on its disk.'),
  rejections: v.array(
    v.strictObject({ tenant_id: v.string(), revision: count, reason: v.string(), at: time }),
  ),
})

export const AuditEntry = v.strictObject({
  sequence: count,
  at: time,
  actor: v.string(),
  actor_id: described(
    v.nullable(v.string()),
    'The account ID: an email address may since belong to someone else.',
  ),
  action: v.string(),
  tenant_id: v.nullable(v.string()),
  details: v.record(v.string(), v.unknown()),
  request_id: v.nullable(v.string()),
})
