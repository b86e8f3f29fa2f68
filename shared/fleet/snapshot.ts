/**
 * The contract of the fleet link: what the control plane pushes and a gateway acknowledges.
 * Both ends speak JSON messages over one WebSocket that the gateway opens.
 */
import * as v from 'valibot'
import { HOSTNAME } from '../hosts.ts'
import { LIMITS } from '../limits.ts'
import { ContactSchema, EnforcedRulesSchema } from './access-rules.ts'
import { ConnectorsMessageSchema } from './connector-presence.ts'
import { HoldersMessageSchema } from './holders.ts'
import { EnforcedServicesSchema } from './services.ts'

/** Raised when a message changes its meaning; a gateway of another format is told so. */
export const FLEET_FORMAT = 1

export const TENANT_ID = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

export const MODES = ['gateway', 'connector', 'sdk'] as const
export type Mode = (typeof MODES)[number]
export const PLANS = ['free', 'standard', 'premium'] as const
export type Plan = (typeof PLANS)[number]
export const PROTECTIONS = ['pass-through', 'on'] as const
export type Protection = (typeof PROTECTIONS)[number]
export const SESSION_BINDINGS = ['off', 'step_up', 'terminate'] as const
export type SessionBinding = (typeof SESSION_BINDINGS)[number]
export const LICENCES = ['active', 'grace', 'expired'] as const
export type Licence = (typeof LICENCES)[number]
/** `draft` has never been published and is unknown to the gateways. */
export const TENANT_STATUSES = ['draft', 'published', 'suspended'] as const
export type TenantStatus = (typeof TENANT_STATUSES)[number]

const text = (max: number) => v.pipe(v.string(), v.minLength(1), v.maxLength(max))
export const whole = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const [second, sequence, revision] = [whole, whole, whole]
const tenantId = v.pipe(v.string(), v.regex(TENANT_ID))
const hostname = v.pipe(v.string(), v.regex(HOSTNAME))
const prefixes = v.pipe(
  v.array(v.pipe(v.string(), v.startsWith('/'), v.maxLength(LIMITS.pathPrefixBytesMax))),
  v.maxLength(LIMITS.pathPrefixesPerTenantMax),
)

/** One public signing key as the tenant's application and our gateways accept it. */
const PublicKeySchema = v.object({
  kid: text(200),
  kty: v.literal('RSA'),
  alg: v.literal('RS256'),
  use: v.literal('sig'),
  n: text(2048),
  e: text(16),
})
export type PublicKey = v.InferOutput<typeof PublicKeySchema>

/** Everything that a gateway needs to serve one tenant. Never logged: it holds secrets. */
export const TenantSnapshotSchema = v.object({
  tenant_id: tenantId,
  revision,
  name: text(200),
  mode: v.picklist(['gateway', 'connector']),
  status: v.picklist(['published', 'suspended']),
  protection: v.picklist(PROTECTIONS),
  licence: v.picklist(LICENCES),
  licence_blocks_signin: v.boolean(),
  /** How browsers reach each hostname: `{ "demo.localhost": "http://demo.localhost:8000" }`. */
  edge_urls: v.record(hostname, v.pipe(v.string(), v.url())),
  /** Where the edge sends requests: scheme, host and port, nothing else. */
  origin: v.pipe(v.string(), v.url()),
  sealed: prefixes,
  excluded: prefixes,
  health: v.pipe(v.string(), v.startsWith('/')),
  max_session_seconds: v.pipe(v.number(), v.integer(), v.minValue(1)),
  idle_seconds: v.pipe(v.number(), v.integer(), v.minValue(1)),
  session_binding: v.picklist(SESSION_BINDINGS),
  issuer: v.pipe(v.string(), v.url()),
  client_id: text(200),
  client_secret: text(200),
  /** What was written under it before the newest one came is still read. */
  previous_client_secret: v.optional(text(200)),
  keys: v.pipe(v.array(PublicKeySchema), v.maxLength(10)),
  certificates: v.array(
    v.object({ hostname, certificate_pem: text(64 * 1024), private_key_pem: text(16 * 1024) }),
  ),
  /** Hosts whose certificates are ordered: for these HTTP-01 is answered with this thumbprint. */
  acme: v.optional(
    v.object({
      thumbprint: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{43}$/)),
      hostnames: v.pipe(v.array(hostname), v.maxLength(LIMITS.hostnamesPerTenantMax)),
    }),
  ),
  /** In connector mode: who may dial in for it, known by which public keys of Ed25519. */
  connectors: v.optional(
    v.pipe(
      v.array(
        v.object({
          connector_id: text(100),
          keys: v.pipe(
            v.array(v.object({ key_id: text(100), public_key: text(43) })),
            v.maxLength(LIMITS.connectorKeysMax),
          ),
        }),
      ),
      v.maxLength(LIMITS.connectorsPerTenantMax),
    ),
  ),
  /** Who may open which paths; left out: whoever is signed in. */
  access: v.optional(EnforcedRulesSchema),
  /** Whom to ask for access, where a rule refuses it. */
  access_contact: v.optional(ContactSchema),
  /** Machines, and what rules say of them; left out: it has none. */
  services: v.optional(EnforcedServicesSchema),
})
export type TenantSnapshot = v.InferOutput<typeof TenantSnapshotSchema>

/**
 * Not `v.record`: that one silently drops the keys `constructor`, `prototype` and `__proto__`, and a
 * user of that name could then never be revoked. Read such objects with `Object.entries` only.
 */
const notBefores = v.custom<Record<string, number>>(
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((notBefore) => Number.isSafeInteger(notBefore) && notBefore >= 0),
  'an object of epoch seconds',
)

/**
 * Not-before times in epoch seconds; 0 means nothing is revoked. `session_seconds`: for so long a
 * session that one of them ends would have lived, whatever a session may last by now; left out where
 * that is a day at most, for which everybody remembers them anyway.
 */
export const RevokedSchema = v.object({
  all: second,
  subjects: notBefores,
  sids: notBefores,
  /** By person: what an older token says of their groups no longer holds. Their session does. */
  claims: v.optional(notBefores),
  session_seconds: v.optional(second),
})
export type Revoked = v.InferOutput<typeof RevokedSchema>

/** How a gateway is dialled by connectors, as it says itself. */
export const GatewayDoorSchema = v.object({
  /** `host:port` */
  address: text(300),
  /** DER in base64url. */
  certificate: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,4000}$/)),
})
export type GatewayDoor = v.InferOutput<typeof GatewayDoorSchema>

/** A gateway of the fleet, as connectors and the other gateways know it. */
const FleetGatewaySchema = v.object({ gateway_id: text(100), ...GatewayDoorSchema.entries })
export type FleetGateway = v.InferOutput<typeof FleetGatewaySchema>

/** What all gateways share. Never logged. */
export const FleetSettingsSchema = v.object({
  base_url: v.pipe(v.string(), v.url()),
  /** TLS session tickets are derived from it; another one whenever a gateway is sent away. */
  ticket_secret: v.optional(text(100)),
  /** Those that connectors dial. One of them may ask another for a tenant's connectors. */
  gateways: v.optional(v.pipe(v.array(FleetGatewaySchema), v.maxLength(LIMITS.connectorDoorsMax))),
})
export type FleetSettings = v.InferOutput<typeof FleetSettingsSchema>

/** That a tenant is there: which version of it, and its hosts. */
const IndexEntrySchema = v.tuple([tenantId, revision, text(100), v.array(hostname)])
export type IndexEntry = v.InferOutput<typeof IndexEntrySchema>

/**
 * Control plane → gateway. After `hello`: `welcome`, `settings`, every `revoked`, `revoked_synced`,
 * the tenants, `synced`; then whatever changes. `tenant`, `index`, `remove` and `keep` are paced by
 * the gateway's `consumed`, so that a revocation never waits behind more than one window of them.
 */
export const DownMessageSchema = v.variant('type', [
  /** First answer to `hello`. With `is_full`, what `synced` has not mentioned is to be removed. */
  v.object({
    type: v.literal('welcome'),
    format: v.number(),
    epoch: text(100),
    revision,
    is_full: v.boolean(),
    /** There are so many tenants that the gateway is told of each, and asks for what it needs. */
    by_need: v.optional(v.boolean()),
  }),
  /** Tenants that it may ask for with `want`. */
  v.object({
    type: v.literal('index'),
    tenants: v.pipe(v.array(IndexEntrySchema), v.maxLength(LIMITS.fleetIndexEntriesSentMax)),
  }),
  /** `hash` is `snapshotHash` of the snapshot, which is parsed apart: a bad one is rejected alone. */
  v.object({
    type: v.literal('tenant'),
    tenant_id: tenantId,
    revision,
    hash: text(100),
    version: v.optional(text(100)),
    snapshot: v.unknown(),
  }),
  v.object({ type: v.literal('remove'), tenant_id: tenantId, revision }),
  /** The tenant's snapshot cannot be sent (too big, unreadable): go on with the last good one. */
  v.object({
    type: v.literal('keep'),
    tenant_id: tenantId,
    revision,
    hash: text(100),
    version: v.optional(text(100)),
  }),
  /** Merged by maximum, so parts of one tenant's state may come in any order and repeatedly. */
  v.object({ type: v.literal('revoked'), tenant_id: tenantId, revoked: RevokedSchema, sequence }),
  /** Everything that was revoked before the gateway connected has been sent. */
  v.object({ type: v.literal('revoked_synced'), sequence }),
  /** With a sequence, somebody waits for it: it is acknowledged as what was revoked is. */
  v.object({
    type: v.literal('settings'),
    settings: FleetSettingsSchema,
    sequence: v.optional(sequence),
  }),
  /** All up to `revision` has been sent; `state_hash` is over every tenant's id and version. */
  v.object({
    type: v.literal('synced'),
    epoch: text(100),
    revision,
    state_hash: v.optional(text(100)),
  }),
  HoldersMessageSchema,
  v.object({ type: v.literal('events_received'), batch: sequence }),
  v.object({ type: v.literal('held_received'), batch: sequence }),
  v.object({ type: v.literal('figures_received'), run: text(50), batch: sequence }),
  v.object({ type: v.literal('refused'), reason: v.string() }),
])
export type DownMessage = v.InferOutput<typeof DownMessageSchema>

export const SessionActivitySchema = v.object({
  tenant_id: tenantId,
  sid: text(200),
  subject: text(200),
  at: second,
  /** Of a machine: from where it came, and how many requests that were since it was last told. */
  ip: v.optional(text(LIMITS.addressTextMax)),
  requests: v.optional(whole),
})
export type SessionActivity = v.InferOutput<typeof SessionActivitySchema>

export const EnforcementEventSchema = v.object({
  tenant_id: tenantId,
  outcome: text(50),
  reason: v.optional(v.string()),
  subject: v.optional(v.string()),
  sid: v.optional(v.string()),
  /** When the token of an ended session was issued, by its issuer's clock. */
  issued_at: v.optional(second),
  ip: v.optional(v.string()),
  app_host: v.optional(v.string()),
  /** Of refused requests: without its query, how many were alike, and when the first was. */
  path: v.optional(v.string()),
  count: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
  at: v.optional(second),
  /** Which state of the tenant the gateway served: its id may have been given again since. */
  revision: v.optional(revision),
})
export type EnforcementEvent = v.InferOutput<typeof EnforcementEventSchema>

/** How many requests of a tenant were decided so, with that reason. */
export const DecisionCountSchema = v.tuple([
  tenantId,
  text(50),
  v.pipe(v.string(), v.maxLength(50)),
  v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
])
export type DecisionCount = v.InferOutput<typeof DecisionCountSchema>

/**
 * A batch of counts. `run` and `batch` name it for good: it is sent until `figures_received`, and
 * added once. The gateway's clock may be wrong, so it says how long ago it began to count.
 */
const DecisionFiguresSchema = v.object({
  run: text(50),
  batch: sequence,
  age_seconds: second,
  counts: v.pipe(v.array(DecisionCountSchema), v.maxLength(LIMITS.fleetFiguresSentMax)),
})
export type DecisionFigures = v.InferOutput<typeof DecisionFiguresSchema>

const wantedIds = v.pipe(v.array(tenantId), v.maxLength(LIMITS.fleetWantedSentMax))

/** Gateway → control plane. */
export const UpMessageSchema = v.variant('type', [
  /** `epoch` and `revision` are what the gateway surely has; `''` and 0 ask for everything. */
  v.object({
    type: v.literal('hello'),
    id: text(100),
    version: text(50),
    format: v.number(),
    epoch: v.string(),
    revision,
    /** It compares versions, and asks for tenants where it is told of them only. */
    by_need: v.optional(v.boolean()),
    /** What it knows of (features.ts); left out by those from before there was anything to say. */
    features: v.optional(v.pipe(v.array(text(50)), v.maxLength(50))),
    /** Where connectors dial it, and the certificate that they know it by; left out: nowhere. */
    connect: v.optional(GatewayDoorSchema),
  }),
  /** Every worker serves `revision`; `is_durable` says whether the disk has it too. */
  v.object({
    type: v.literal('applied'),
    epoch: v.string(),
    revision,
    is_durable: v.boolean(),
  }),
  /** Every worker enforces what was revoked up to `sequence`; `is_durable`: a restart does, too. */
  v.object({
    type: v.literal('revoked_applied'),
    sequence,
    is_durable: v.optional(v.boolean(), false),
  }),
  /**
   * Of these it serves each state from now on, and of those of `unwant` no more. With `has` it has
   * them, as of its `hello`; else they are to be sent.
   */
  v.object({ type: v.literal('want'), tenant_ids: wantedIds, has: v.optional(v.boolean()) }),
  v.object({ type: v.literal('unwant'), tenant_ids: wantedIds }),
  /** So many more of `tenant`, `index`, `remove` and `keep` have been dealt with: send as many again. */
  v.object({ type: v.literal('consumed'), messages: sequence }),
  v.object({
    type: v.literal('rejected'),
    tenant_id: v.string(),
    revision,
    reason: v.pipe(v.string(), v.maxLength(1000)),
  }),
  /** The state hash differs after `synced`: send everything again. */
  v.object({ type: v.literal('resync'), reason: v.string() }),
  v.object({
    type: v.literal('activity'),
    sessions: v.pipe(v.array(SessionActivitySchema), v.maxLength(LIMITS.fleetReportItemsMax)),
  }),
  /** Answered with `events_received`; until then the gateway keeps the batch and sends it again. */
  v.object({
    type: v.literal('events'),
    batch: sequence,
    events: v.pipe(v.array(EnforcementEventSchema), v.maxLength(LIMITS.fleetReportItemsMax)),
  }),
  v.object({ type: v.literal('figures'), ...DecisionFiguresSchema.entries }),
  /**
   * What is revoked here, after an epoch that is another one: the database may have lost some of it.
   * Answered with `held_received`; then come the next.
   */
  v.object({
    type: v.literal('held'),
    batch: sequence,
    tenants: v.pipe(
      v.array(v.object({ tenant_id: tenantId, revoked: RevokedSchema })),
      v.maxLength(LIMITS.heldTenantsSentMax),
    ),
  }),
  ConnectorsMessageSchema,
])
export type UpMessage = v.InferOutput<typeof UpMessageSchema>

/** The later not-before wins, so revocations merge in any order and are never rolled back. */
export function mergeRevoked(a: Revoked, b: Revoked): Revoked {
  return {
    all: Math.max(a.all, b.all),
    subjects: mergeByMaximum(a.subjects, b.subjects),
    sids: mergeByMaximum(a.sids, b.sids),
    ...claimsOf(mergeByMaximum(a.claims ?? {}, b.claims ?? {})),
    ...sessionSecondsOf(a.session_seconds, b.session_seconds),
  }
}

/** The longest, where any is said. */
export function sessionSecondsOf(
  ...said: (number | undefined)[]
): Pick<Revoked, 'session_seconds'> {
  const longest = Math.max(...said.map((seconds = 0) => seconds))
  return longest === 0 ? {} : { session_seconds: longest }
}

/** Left out where there are none: most tenants never have any. */
export function claimsOf(claims: Record<string, number>): Pick<Revoked, 'claims'> {
  return Object.keys(claims).length === 0 ? {} : { claims }
}

function mergeByMaximum(a: Record<string, number>, b: Record<string, number>) {
  const merged = new Map(Object.entries(a))
  for (const [key, notBefore] of Object.entries(b))
    merged.set(key, Math.max(notBefore, merged.get(key) ?? 0))
  return Object.fromEntries(merged)
}
