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
  error: described(v.string(), 'For programs: a code that stays the same.'),
  detail: described(v.string(), 'For people: what is wrong, in a sentence.'),
  field: v.optional(described(v.string(), 'Which field or parameter is meant.')),
  retry_after: v.optional(described(v.number(), 'Seconds to wait; also in `Retry-After`.')),
})

export const ProtectionAnswer = v.strictObject({
  tenant_id: v.string(),
  protection: v.picklist(PROTECTIONS),
  at: described(time, 'Since when it is so.'),
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
  licence_grace_from: described(v.nullable(time), 'When it comes to its grace by itself.'),
  licence_expires_at: described(v.nullable(time), 'When it expires by itself.'),
  licence_blocks_signin_when_expired: v.boolean(),
  hostnames: v.array(v.string()),
  edge_urls: described(v.record(v.string(), v.string()), 'Where browsers reach each hostname.'),
  origin: v.string(),
  sealed: described(v.array(v.string()), 'Paths that do not exist for the outside.'),
  excluded: described(v.array(v.string()), 'Paths that are served without a session.'),
  health: v.string(),
  max_session_seconds: count,
  idle_seconds: count,
  session_binding: v.picklist(SESSION_BINDINGS),
  time_zone: described(v.string(), 'Where its weeks end, for the digest.'),
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
    'Since when a sign-in from end to end has been seen to work.',
  ),
})

export const NewTenantAnswer = v.strictObject({
  ...Tenant.entries,
  analyzer_key: described(v.string(), 'Shown here and never again.'),
  client_secret: described(v.string(), 'Shown here and never again.'),
})

const previousValidUntil = described(
  v.nullable(time),
  'Until then the one before it counts as well; null: it does not.',
)

export const AnalyzerKeyAnswer = v.strictObject({
  tenant_id: v.string(),
  analyzer_key: described(v.string(), 'To be kept like a password.'),
  previous_valid_until: previousValidUntil,
})

export const ClientSecretAnswer = v.strictObject({
  tenant_id: v.string(),
  client_id: v.string(),
  client_secret: described(v.string(), 'To be kept like a password.'),
  previous_valid_until: previousValidUntil,
})

export const CertificateAnswer = v.strictObject({
  hostname: v.string(),
  not_before: v.string(),
  not_after: v.string(),
  fingerprint_sha256: v.string(),
})

export const User = v.strictObject({
  user_id: v.string(),
  username: v.string(),
  email: v.string(),
  name: v.string(),
  disabled: v.boolean(),
  source: described(v.string(), "`directory`: known by the tenant's own database."),
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
  gateways: described(count, 'Connected gateways that go by it, with all of their workers.'),
  of: described(count, 'Connected gateways.'),
  pending: v.optional(
    described(gatewayIds, 'Connected, and have not said within a second that they go by it.'),
  ),
  not_durable: v.optional(
    described(gatewayIds, 'Go by it, but cannot write it down: a restart may forget it.'),
  ),
  unreachable: v.optional(
    described(gatewayIds, 'Not connected: if they still serve, they go by what they knew last.'),
  ),
  instances: v.optional(
    v.strictObject({
      of: described(count, 'Instances of the application that poll.'),
      within_seconds: described(count, 'How soon each of them asks again, and hears of it.'),
    }),
  ),
})

export const RevocationAnswer = v.strictObject({
  all: v.optional(v.literal(true)),
  subject: v.optional(v.string()),
  sid: v.optional(v.string()),
  not_before: described(count, 'Epoch seconds: what was issued before is worth nothing.'),
  sessions: described(count, 'How many sessions that were alive have ended by it.'),
  enforced: Enforced,
})

export const PatchedUserAnswer = v.strictObject({
  ...User.entries,
  enforced: v.optional(described(Enforced, 'Where the change has ended sessions.')),
})

/** The tenant, and who goes by what was changed of it. */
export const ChangedTenantAnswer = v.strictObject({ ...Tenant.entries, enforced: Enforced })

export const RemovedTenantAnswer = v.strictObject({ tenant_id: v.string(), enforced: Enforced })

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
  last_used_at: described(v.nullable(time), 'When the gateway last connected with it.'),
})

export const NewGatewayKeyAnswer = v.strictObject({
  gateway_id: v.string(),
  key_id: v.string(),
  key: described(v.string(), 'For SERVICE_FLEET_KEY of this gateway. Shown here and never again.'),
  created_at: time,
})

export const Gateway = v.strictObject({
  gateway_id: v.string(),
  version: described(v.nullable(v.string()), 'null: not seen since the control plane runs.'),
  connected: v.boolean(),
  key_id: described(
    v.nullable(v.string()),
    "Which of its keys it has connected with; null: the fleet key of the control plane's machine.",
  ),
  keys: described(
    v.array(GatewayKey),
    'Its own, the oldest first; two while one replaces another.',
  ),
  connected_at: v.nullable(time),
  last_seen_at: v.nullable(time),
  revision: described(count, 'The last revision that all of its workers serve.'),
  lag: described(v.number(), 'How many revisions it is behind.'),
  applied_at: described(v.nullable(time), 'When it last said that it serves a revision.'),
  durable: described(v.boolean(), 'Whether its disk holds what it serves.'),
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
    'The account of a person, whose address may be somebody else’s by now.',
  ),
  action: v.string(),
  tenant_id: v.nullable(v.string()),
  details: v.record(v.string(), v.unknown()),
  request_id: v.nullable(v.string()),
})
