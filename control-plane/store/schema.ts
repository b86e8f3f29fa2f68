/**
 * The schema, once for SQLite and Postgres. Times are epoch milliseconds (`_at`); columns that end
 * in `_sealed` are encrypted under the master key; ones that end in `_hash` cannot be turned back.
 */
import type { EventName } from '../../shared/events.ts'
import { defineAnalysisTables } from './analysis-tables.ts'
import { sqliteColumns, type Columns } from './columns.ts'
import { defineConsoleTables } from './console-tables.ts'
import { defineFeedTables } from './feed-tables.ts'
import { defineFleetTables } from './fleet-tables.ts'
import { defineMonitoringTables } from './monitoring-tables.ts'
import { defineSignInTables } from './sign-in-tables.ts'
import { defineWebhookTables } from './webhook-tables.ts'

function defineSchema(c: Columns) {
  /** Named whole numbers that only grow, the fleet's `revision` among them. */
  const counters = c.table('counters', {
    name: c.text('name').primaryKey(),
    value: c.whole('value').notNull(),
  })

  const facts = c.table('facts', {
    name: c.text('name').primaryKey(),
    value: c.text('value').notNull(),
  })

  const tenants = c.table(
    'tenants',
    {
      tenantId: c.text('tenant_id').primaryKey(),
      name: c.text('name').notNull(),
      mode: c.text('mode').$type<'gateway' | 'connector' | 'sdk'>().notNull(),
      plan: c.text('plan').$type<'free' | 'standard' | 'premium'>().notNull(),
      status: c.text('status').$type<'draft' | 'published' | 'suspended'>().notNull(),
      protection: c.text('protection').$type<'pass-through' | 'on'>().notNull(),
      licence: c.text('licence').$type<'active' | 'grace' | 'expired'>().notNull(),
      licenceBlocksSignin: c.flag('licence_blocks_signin').notNull(),
      origin: c.text('origin').notNull(),
      sealed: c.json('sealed').$type<string[]>().notNull(),
      excluded: c.json('excluded').$type<string[]>().notNull(),
      health: c.text('health').notNull(),
      maxSessionSeconds: c.whole('max_session_seconds').notNull(),
      idleSeconds: c.whole('idle_seconds').notNull(),
      sessionBinding: c.text('session_binding').$type<'off' | 'step_up' | 'terminate'>().notNull(),
      clientSecretSealed: c.text('client_secret_sealed').notNull(),
      clientSecretHash: c.text('client_secret_hash').notNull(),
      analyzerKeySealed: c.text('analyzer_key_sealed').notNull(),
      analyzerKeyHash: c.text('analyzer_key_hash').notNull(),
      revision: c.whole('revision').notNull(),
      createdAt: c.whole('created_at').notNull(),
      updatedAt: c.whole('updated_at').notNull(),
      publishedAt: c.whole('published_at'),
      protectionAt: c.whole('protection_at'),
      /** `#rrggbb`, and an image as a data URL; null is our own look. */
      brandColour: c.text('brand_colour'),
      /** Base64; the tag tells one from another without reading it. */
      brandLogo: c.text('brand_logo'),
      brandLogoTag: c.text('brand_logo_tag'),
      /** Where the application itself wants to hear of sessions that have ended. */
      backchannelLogoutUri: c.text('backchannel_logout_uri'),
      /** The client secret before this one, and until when it counts as well. */
      previousSecretSealed: c.text('previous_secret_sealed'),
      previousSecretHash: c.text('previous_secret_hash'),
      previousSecretUntil: c.whole('previous_secret_until'),
      /** Since when a sign-in from end to end has been seen to work. */
      integrationCompletedAt: c.whole('integration_completed_at'),
      /** IANA name: when a week ends, and what its digest tells of. */
      timeZone: c.text('time_zone').notNull().default('UTC'),
      /** When the licence goes on by itself, and whether sign-ins are refused from its end on. */
      licenceGraceFrom: c.whole('licence_grace_from'),
      licenceExpiresAt: c.whole('licence_expires_at'),
      licenceExpiryBlocks: c.flag('licence_expiry_blocks').notNull().default(false),
      /** The next of the two; null: there is none. */
      licenceDueAt: c.whole('licence_due_at'),
      /** The analyzer key before this one, and until when it counts as well. */
      previousAnalyzerHash: c.text('previous_analyzer_hash'),
      previousAnalyzerUntil: c.whole('previous_analyzer_until'),
      /** Never given again, as its id may be once it is gone. */
      number: c.whole('number').notNull().default(0),
      /** Whatever was served under an earlier one was of somebody who had this id before. */
      createdRevision: c.whole('created_revision').notNull().default(0),
    },
    (table) => [
      c.index('tenants_time_zone').on(table.timeZone, table.tenantId),
      c.index('tenants_licence_due').on(table.licenceDueAt),
      c.index('tenants_previous_secret').on(table.previousSecretUntil),
      c.uniqueIndex('tenants_analyzer_key_hash').on(table.analyzerKeyHash),
      c.index('tenants_previous_analyzer').on(table.previousAnalyzerHash),
      c.index('tenants_revision').on(table.revision),
      c.uniqueIndex('tenants_number').on(table.number),
    ],
  )

  const tenantHostnames = c.table(
    'tenant_hostnames',
    {
      hostname: c.text('hostname').primaryKey(),
      tenantId: c.text('tenant_id').notNull(),
      position: c.whole('position').notNull(),
    },
    (table) => [c.index('tenant_hostnames_tenant').on(table.tenantId)],
  )

  const tenantCertificates = c.table(
    'tenant_certificates',
    {
      hostname: c.text('hostname').primaryKey(),
      tenantId: c.text('tenant_id').notNull(),
      certificatePem: c.text('certificate_pem').notNull(),
      privateKeySealed: c.text('private_key_sealed').notNull(),
      notAfter: c.whole('not_after').notNull(),
      updatedAt: c.whole('updated_at').notNull(),
    },
    (table) => [c.index('tenant_certificates_tenant').on(table.tenantId)],
  )

  /** Tenants that are gone, so that a gateway which was away learns of it. */
  const tenantTombstones = c.table(
    'tenant_tombstones',
    {
      tenantId: c.text('tenant_id').primaryKey(),
      revision: c.whole('revision').notNull(),
      /** Something of it is still to be deleted. */
      isLeftBehind: c.flag('is_left_behind').notNull().default(false),
    },
    (table) => [
      c.index('tenant_tombstones_revision').on(table.revision),
      c.index('tenant_tombstones_left').on(table.isLeftBehind, table.tenantId),
    ],
  )

  const signingKeys = c.table(
    'signing_keys',
    {
      kid: c.text('kid').primaryKey(),
      tenantId: c.text('tenant_id').notNull(),
      phase: c.text('phase').$type<'next' | 'current' | 'retired'>().notNull(),
      publicJwk: c.json('public_jwk').$type<{ n: string; e: string }>().notNull(),
      privatePemSealed: c.text('private_pem_sealed').notNull(),
      createdAt: c.whole('created_at').notNull(),
      /** When it last became `current`, and when it stopped being so. */
      promotedAt: c.whole('promoted_at'),
      retiredAt: c.whole('retired_at'),
    },
    (table) => [c.index('signing_keys_tenant').on(table.tenantId)],
  )

  const users = c.table(
    'users',
    {
      userId: c.text('user_id').primaryKey(),
      tenantId: c.text('tenant_id').notNull(),
      username: c.text('username').notNull(),
      /** Folded for look-up, so that `Ada` and `ada` are one account. */
      usernameKey: c.text('username_key').notNull(),
      email: c.text('email').notNull(),
      emailKey: c.text('email_key').notNull(),
      name: c.text('name').notNull(),
      passwordHash: c.text('password_hash').notNull(),
      isDisabled: c.flag('is_disabled').notNull(),
      createdAt: c.whole('created_at').notNull(),
      updatedAt: c.whole('updated_at').notNull(),
      /**
       * `directory`: the record of somebody whose password is in the tenant's own database; `trial`:
       * somebody who exists for one check of the sign-in.
       */
      source: c.text('source').$type<'own' | 'directory' | 'trial'>().notNull().default('own'),
      passwordChangedAt: c.whole('password_changed_at').notNull().default(0),
      /** When the person proved that mail to the address reaches them. */
      emailProvenAt: c.whole('email_proven_at'),
      /** When an administrator ended a pause of lockout: failures before this do not count any more. */
      unlockedAt: c.whole('unlocked_at'),
    },
    (table) => [
      c.uniqueIndex('users_username').on(table.tenantId, table.usernameKey),
      c.uniqueIndex('users_email').on(table.tenantId, table.emailKey),
    ],
  )

  /** Sessions that a realm has issued to a tenant's client, found by the `sid` of their token. */
  const sessions = c.table(
    'sessions',
    {
      sid: c.text('sid').primaryKey(),
      tenantId: c.text('tenant_id').notNull(),
      userId: c.text('user_id').notNull(),
      ip: c.text('ip').notNull(),
      userAgent: c.text('user_agent').notNull(),
      createdAt: c.whole('created_at').notNull(),
      /** `iat` and `exp` of the newest token, in milliseconds. */
      issuedAt: c.whole('issued_at').notNull(),
      expiresAt: c.whole('expires_at').notNull(),
      lastSeenAt: c.whole('last_seen_at').notNull(),
      endedAt: c.whole('ended_at'),
      endReason: c.text('end_reason'),
    },
    (table) => [
      c.index('sessions_tenant').on(table.tenantId, table.createdAt),
      c.index('sessions_user').on(table.tenantId, table.userId, table.createdAt),
      c.index('sessions_expiry').on(table.expiresAt),
      // only of those that have not been ended: what lists of running sessions walk along
      c.index('sessions_alive').on(table.tenantId, table.expiresAt, table.sid),
      c.index('sessions_alive_user').on(table.tenantId, table.userId, table.expiresAt, table.sid),
      c.index('sessions_alive_ip').on(table.tenantId, table.ip, table.expiresAt, table.sid),
    ],
  )

  /** Not-before times in epoch seconds. `kind` is all, subject or sid; `target` is '' for all. */
  const revocations = c.table(
    'revocations',
    {
      tenantId: c.text('tenant_id').notNull(),
      kind: c.text('kind').$type<'all' | 'subject' | 'sid'>().notNull(),
      target: c.text('target').notNull(),
      notBefore: c.whole('not_before').notNull(),
      createdAt: c.whole('created_at').notNull(),
      /** The last of the sessions that it has ended expires then; before, it is not looked at. */
      keptUntil: c.whole('kept_until').notNull().default(0),
    },
    (table) => [
      c.primaryKey({ columns: [table.tenantId, table.kind, table.target] }),
      c.index('revocations_kept').on(table.keptUntil),
    ],
  )

  /**
   * The OpenID Connect provider's own records (sessions, grants, codes, interactions). `idHash`
   * because the ids of codes and tokens are the secrets themselves.
   */
  const realmRecords = c.table(
    'realm_records',
    {
      tenantId: c.text('tenant_id').notNull(),
      model: c.text('model').notNull(),
      idHash: c.text('id_hash').notNull(),
      payloadSealed: c.text('payload_sealed').notNull(),
      grantId: c.text('grant_id'),
      uidHash: c.text('uid_hash'),
      accountId: c.text('account_id'),
      /** The `sid` that tokens made from this record carry, so that ending a session finds it. */
      sid: c.text('sid'),
      consumedAt: c.whole('consumed_at'),
      expiresAt: c.whole('expires_at').notNull(),
      /** Of a sign-in: what the address that began it is counted as. */
      openedBy: c.text('opened_by'),
    },
    (table) => [
      c.primaryKey({ columns: [table.tenantId, table.model, table.idHash] }),
      c.index('realm_records_grant').on(table.tenantId, table.grantId),
      c.index('realm_records_uid').on(table.tenantId, table.uidHash),
      c.index('realm_records_account').on(table.tenantId, table.accountId),
      c.index('realm_records_sid').on(table.tenantId, table.sid),
      c.index('realm_records_expiry').on(table.expiresAt),
      c
        .index('realm_records_open')
        .on(
          table.tenantId,
          table.model,
          table.openedBy,
          table.expiresAt,
          table.idHash,
          table.consumedAt,
        ),
      c
        .index('realm_records_open_all')
        .on(
          table.tenantId,
          table.model,
          table.expiresAt,
          table.idHash,
          table.consumedAt,
          table.openedBy,
        ),
    ],
  )

  /** Events that commit with the change that caused them; the dispatcher reads them in order. */
  const outbox = c.table(
    'outbox',
    {
      sequence: c.whole('sequence').primaryKey(),
      eventId: c.text('event_id').notNull(),
      tenantId: c.text('tenant_id').notNull(),
      event: c.text('event').$type<EventName>().notNull(),
      content: c.json('content').$type<Record<string, unknown>>().notNull(),
      createdAt: c.whole('created_at').notNull(),
    },
    (table) => [
      c.index('outbox_tenant').on(table.tenantId, table.sequence),
      c.index('outbox_created').on(table.createdAt),
      c.index('outbox_event').on(table.tenantId, table.event, table.sequence),
    ],
  )

  const audit = c.table(
    'audit',
    {
      sequence: c.whole('sequence').primaryKey(),
      at: c.whole('at').notNull(),
      actor: c.text('actor').notNull(),
      action: c.text('action').notNull(),
      tenantId: c.text('tenant_id'),
      content: c.json('content').$type<Record<string, unknown>>().notNull(),
      requestId: c.text('request_id').notNull(),
      /** Of the tenant that had the id then. */
      tenantNumber: c.whole('tenant_number'),
      /** The account of a person whose `actor` is an address, which may be somebody else's later. */
      actorId: c.text('actor_id'),
      /** Whom it was about, where it was about one person. */
      userId: c.text('user_id'),
    },
    (table) => [
      c.index('audit_tenant').on(table.tenantId, table.sequence),
      c.index('audit_tenant_number').on(table.tenantNumber, table.sequence),
      c.index('audit_user').on(table.userId, table.sequence),
      c.index('audit_actor').on(table.actorId, table.sequence),
      c.index('audit_at').on(table.at),
    ],
  )

  const verificationChecks = c.table(
    'verification_checks',
    {
      tenantId: c.text('tenant_id').notNull(),
      check: c.text('check_name').notNull(),
      source: c.text('source').$type<'platform' | 'self_report'>().notNull(),
      status: c.text('status').$type<'pass' | 'fail' | 'warn' | 'skip'>().notNull(),
      detail: c.text('detail').notNull(),
      nextAction: c.text('next_action').notNull(),
      at: c.whole('at').notNull(),
    },
    (table) => [c.primaryKey({ columns: [table.tenantId, table.check, table.source] })],
  )

  return {
    counters,
    facts,
    tenants,
    tenantHostnames,
    tenantCertificates,
    tenantTombstones,
    signingKeys,
    users,
    sessions,
    revocations,
    realmRecords,
    outbox,
    audit,
    verificationChecks,
    ...defineSignInTables(c),
    ...defineAnalysisTables(c),
    ...defineFeedTables(c),
    ...defineFleetTables(c),
    ...defineMonitoringTables(c),
    ...defineWebhookTables(c),
    ...defineConsoleTables(c),
  }
}

export const schema = defineSchema(sqliteColumns)
export type Schema = typeof schema
