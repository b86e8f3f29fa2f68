/** The part of the schema that all else stands on: tenants, people, sessions, events, gateways. */
import type { EventName } from '../../shared/events.ts'
import type { CheckResult } from '../../shared/integration/check-result.ts'
import { table, text, whole, json, flag, primaryKey, uniqueIndex } from './columns.ts'

/** Named whole numbers that only grow, the fleet's `revision` among them. */
export const counters = table('counters', {
  name: text('name').primaryKey(),
  value: whole('value').notNull(),
})

export const facts = table('facts', {
  name: text('name').primaryKey(),
  value: text('value').notNull(),
})

/**
 * How often something was done lately, over all control planes: until when what was taken of a
 * bucket is given back, in `queries/rates.ts`.
 */
export const rates = table(
  'rates',
  {
    kind: text('kind').notNull(),
    key: text('key').notNull(),
    fullAt: whole('full_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.key] })],
)

/** Of work that one control plane does for all: whose it is, and until when. */
export const leases = table('leases', {
  name: text('name').primaryKey(),
  owner: text('owner').notNull(),
  untilAt: whole('until_at').notNull(),
})

export const tenants = table(
  'tenants',
  {
    tenantId: text('tenant_id').primaryKey(),
    name: text('name').notNull(),
    mode: text('mode').$type<'gateway' | 'connector' | 'sdk'>().notNull(),
    plan: text('plan').$type<'free' | 'standard' | 'premium'>().notNull(),
    status: text('status').$type<'draft' | 'published' | 'suspended'>().notNull(),
    protection: text('protection').$type<'pass-through' | 'on'>().notNull(),
    licence: text('licence').$type<'active' | 'grace' | 'expired'>().notNull(),
    licenceBlocksSignin: flag('licence_blocks_signin').notNull(),
    origin: text('origin').notNull(),
    sealed: json('sealed').$type<string[]>().notNull(),
    excluded: json('excluded').$type<string[]>().notNull(),
    health: text('health').notNull(),
    maxSessionSeconds: whole('max_session_seconds').notNull(),
    idleSeconds: whole('idle_seconds').notNull(),
    sessionBinding: text('session_binding').$type<'off' | 'step_up' | 'terminate'>().notNull(),
    clientSecretSealed: text('client_secret_sealed').notNull(),
    clientSecretHash: text('client_secret_hash').notNull(),
    analyzerKeySealed: text('analyzer_key_sealed').notNull(),
    analyzerKeyHash: text('analyzer_key_hash').notNull(),
    revision: whole('revision').notNull(),
    createdAt: whole('created_at').notNull(),
    updatedAt: whole('updated_at').notNull(),
    publishedAt: whole('published_at'),
    protectionAt: whole('protection_at'),
    /** `#rrggbb`, and an image as a data URL; null is our own look. */
    brandColour: text('brand_colour'),
    /** Base64; the tag tells one from another without reading it. */
    brandLogo: text('brand_logo'),
    brandLogoTag: text('brand_logo_tag'),
    /** Where the application itself wants to hear of sessions that have ended. */
    backchannelLogoutUri: text('backchannel_logout_uri'),
    /** The client secret before this one, and until when it counts as well. */
    previousSecretSealed: text('previous_secret_sealed'),
    previousSecretHash: text('previous_secret_hash'),
    previousSecretUntil: whole('previous_secret_until'),
    /** Since when a sign-in from end to end has been seen to work. */
    integrationCompletedAt: whole('integration_completed_at'),
    /** IANA name: when a week ends, and what its digest tells of. */
    timeZone: text('time_zone').notNull().default('UTC'),
    /** When the licence goes on by itself, and whether sign-ins are refused from its end on. */
    licenceGraceFrom: whole('licence_grace_from'),
    licenceExpiresAt: whole('licence_expires_at'),
    licenceExpiryBlocks: flag('licence_expiry_blocks').notNull().default(false),
    /** The next of the two; null: there is none. */
    licenceDueAt: whole('licence_due_at'),
    /** The analyzer key before this one, and until when it counts as well. */
    previousAnalyzerHash: text('previous_analyzer_hash'),
    previousAnalyzerUntil: whole('previous_analyzer_until'),
    /** Never given again, as its id may be once it is gone. */
    number: whole('number').notNull().default(0),
    /** Whatever was served under an earlier one was of somebody who had this id before. */
    createdRevision: whole('created_revision').notNull().default(0),
  },
  (table) => [
    uniqueIndex('tenants_analyzer_key_hash').on(table.analyzerKeyHash),
    uniqueIndex('tenants_number').on(table.number),
  ],
)

export const tenantHostnames = table('tenant_hostnames', {
  hostname: text('hostname').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  position: whole('position').notNull(),
})

export const tenantCertificates = table('tenant_certificates', {
  hostname: text('hostname').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  certificatePem: text('certificate_pem').notNull(),
  privateKeySealed: text('private_key_sealed').notNull(),
  notAfter: whole('not_after').notNull(),
  updatedAt: whole('updated_at').notNull(),
  /** By ourselves; else somebody has uploaded it. */
  isOrdered: flag('is_ordered').notNull().default(false),
})

/** Tenants that are gone, so that a gateway which was away learns of it. */
export const tenantTombstones = table('tenant_tombstones', {
  tenantId: text('tenant_id').primaryKey(),
  revision: whole('revision').notNull(),
  /** Something of it is still to be deleted. */
  isLeftBehind: flag('is_left_behind').notNull().default(false),
})

export const signingKeys = table('signing_keys', {
  kid: text('kid').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  phase: text('phase').$type<'next' | 'current' | 'retired'>().notNull(),
  publicJwk: json('public_jwk').$type<{ n: string; e: string }>().notNull(),
  privatePemSealed: text('private_pem_sealed').notNull(),
  createdAt: whole('created_at').notNull(),
  /** When it last became `current`, and when it stopped being so. */
  promotedAt: whole('promoted_at'),
  retiredAt: whole('retired_at'),
})

export const users = table(
  'users',
  {
    userId: text('user_id').primaryKey(),
    tenantId: text('tenant_id').notNull(),
    username: text('username').notNull(),
    /** Folded for look-up, so that `Ada` and `ada` are one account. */
    usernameKey: text('username_key').notNull(),
    email: text('email').notNull(),
    emailKey: text('email_key').notNull(),
    name: text('name').notNull(),
    passwordHash: text('password_hash').notNull(),
    isDisabled: flag('is_disabled').notNull(),
    createdAt: whole('created_at').notNull(),
    updatedAt: whole('updated_at').notNull(),
    /**
     * `directory`: the record of somebody whose password is in the tenant's own database; `trial`:
     * somebody who exists for one check of the sign-in.
     */
    source: text('source').$type<'own' | 'directory' | 'trial'>().notNull().default('own'),
    passwordChangedAt: whole('password_changed_at').notNull().default(0),
    /** When the person proved that mail to the address reaches them. */
    emailProvenAt: whole('email_proven_at'),
    /** When an administrator ended a pause of lockout: failures before this do not count any more. */
    unlockedAt: whole('unlocked_at'),
    /** 0: never. */
    lastSignInAt: whole('last_sign_in_at').notNull().default(0),
    /** Whatever the policy says: somebody has asked for a second factor of this very person. */
    isFactorRequired: flag('is_factor_required').notNull().default(false),
  },
  (table) => [
    uniqueIndex('users_username').on(table.tenantId, table.usernameKey),
    uniqueIndex('users_email').on(table.tenantId, table.emailKey),
  ],
)

/** Sessions that a realm has issued to a tenant's client, found by the `sid` of their token. */
export const sessions = table('sessions', {
  sid: text('sid').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  userId: text('user_id').notNull(),
  ip: text('ip').notNull(),
  userAgent: text('user_agent').notNull(),
  createdAt: whole('created_at').notNull(),
  /** `iat` and `exp` of the newest token, in milliseconds. */
  issuedAt: whole('issued_at').notNull(),
  expiresAt: whole('expires_at').notNull(),
  lastSeenAt: whole('last_seen_at').notNull(),
  endedAt: whole('ended_at'),
  endReason: text('end_reason'),
  /** The enrolled device that it was begun on. */
  deviceId: text('device_id'),
})

/** Not-before times in epoch seconds. `kind` is all, subject or sid; `target` is '' for all. */
export const revocations = table(
  'revocations',
  {
    tenantId: text('tenant_id').notNull(),
    kind: text('kind').$type<'all' | 'subject' | 'sid' | 'claims'>().notNull(),
    target: text('target').notNull(),
    notBefore: whole('not_before').notNull(),
    createdAt: whole('created_at').notNull(),
    /** The last of the sessions that it has ended expires then; before, it is not looked at. */
    keptUntil: whole('kept_until').notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.kind, table.target] })],
)

/**
 * The OpenID Connect provider's own records (sessions, grants, codes, interactions). `idHash`
 * because the ids of codes and tokens are the secrets themselves.
 */
export const realmRecords = table(
  'realm_records',
  {
    tenantId: text('tenant_id').notNull(),
    model: text('model').notNull(),
    idHash: text('id_hash').notNull(),
    payloadSealed: text('payload_sealed').notNull(),
    grantId: text('grant_id'),
    uidHash: text('uid_hash'),
    accountId: text('account_id'),
    /** The `sid` that tokens made from this record carry, so that ending a session finds it. */
    sid: text('sid'),
    consumedAt: whole('consumed_at'),
    expiresAt: whole('expires_at').notNull(),
    /** Of a sign-in: what the address that began it is counted as. */
    openedBy: text('opened_by'),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.model, table.idHash] })],
)

/** Events that commit with the change that caused them; the dispatcher reads them in order. */
export const outbox = table('outbox', {
  sequence: whole('sequence').primaryKey(),
  eventId: text('event_id').notNull(),
  tenantId: text('tenant_id').notNull(),
  event: text('event').$type<EventName>().notNull(),
  content: json('content').$type<Record<string, unknown>>().notNull(),
  createdAt: whole('created_at').notNull(),
})

export const audit = table('audit', {
  sequence: whole('sequence').primaryKey(),
  at: whole('at').notNull(),
  actor: text('actor').notNull(),
  action: text('action').notNull(),
  tenantId: text('tenant_id'),
  content: json('content').$type<Record<string, unknown>>().notNull(),
  requestId: text('request_id').notNull(),
  /** Of the tenant that had the id then. */
  tenantNumber: whole('tenant_number'),
  /** The account of a person whose `actor` is an address, which may be somebody else's later. */
  actorId: text('actor_id'),
  /** Whom it was about, where it was about one person. */
  userId: text('user_id'),
})

export const verificationChecks = table(
  'verification_checks',
  {
    tenantId: text('tenant_id').notNull(),
    check: text('check_name').notNull(),
    source: text('source').$type<'platform' | 'self_report'>().notNull(),
    status: text('status').$type<'pass' | 'fail' | 'warn' | 'skip'>().notNull(),
    detail: text('detail').notNull(),
    nextAction: text('next_action').notNull(),
    at: whole('at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.check, table.source] })],
)

/** The newest of each tenant, as it was tried: what has changed since may be why it failed. */
export const signInTrials = table('sign_in_trials', {
  tenantId: text('tenant_id').primaryKey(),
  at: whole('at').notNull(),
  revision: whole('revision').notNull(),
  checks: json('checks').$type<readonly CheckResult[]>().notNull(),
})

/** Those that come with the key of the control plane's machine. */
export const keylessGateways = table('keyless_gateways', {
  gatewayId: text('gateway_id').primaryKey(),
  seenAt: whole('seen_at').notNull(),
})

/** A gateway is known for as long as it has a key; while one replaces another, it has two. */
export const gatewayKeys = table('gateway_keys', {
  keyId: text('key_id').primaryKey(),
  gatewayId: text('gateway_id').notNull(),
  keyHash: text('key_hash').notNull().unique(),
  createdAt: whole('created_at').notNull(),
  /** When a gateway last connected with it; null: none has. */
  lastUsedAt: whole('last_used_at'),
})
