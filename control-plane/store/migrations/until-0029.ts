/** Migrations of version 0.2.0 and before, in their order. They are released: none is ever edited. */
const pagesAboutPeople = [
  `ALTER TABLE audit ADD COLUMN user_id TEXT`,
  `UPDATE audit SET user_id = CASE 'text'
      WHEN json_type(content, '$.user_id') THEN json_extract(content, '$.user_id')
      WHEN json_type(content, '$.subject') THEN json_extract(content, '$.subject') END
      WHERE tenant_id = 'console' OR action LIKE 'console.%'`,
  `CREATE INDEX audit_user ON audit (user_id, sequence)`,
  // an address that has changed since, or may have, was perhaps somebody else's at the time
  `UPDATE audit SET actor_id = (
      SELECT max(users.user_id) FROM users WHERE users.tenant_id = 'console'
        AND audit.actor = 'console:' || users.email AND users.updated_at < audit.at)
      WHERE actor LIKE 'console:%' AND actor_id IS NULL`,
  `CREATE INDEX audit_actor ON audit (actor_id, sequence)`,
  `CREATE TABLE console_kept_forms (
      kept_hash TEXT PRIMARY KEY, user_id TEXT NOT NULL, content_sealed TEXT NOT NULL,
      created_at BIGINT NOT NULL)`,
  `CREATE INDEX console_kept_forms_user ON console_kept_forms (user_id, created_at)`,
  `CREATE INDEX console_kept_forms_age ON console_kept_forms (created_at)`,
  `CREATE TABLE console_invitations (
      invitation_id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, email TEXT NOT NULL,
      email_key TEXT NOT NULL, invited_by TEXT NOT NULL, link_hash TEXT NOT NULL,
      created_at BIGINT NOT NULL, sent_at BIGINT NOT NULL, expires_at BIGINT NOT NULL)`,
  `CREATE UNIQUE INDEX console_invitations_link ON console_invitations (link_hash)`,
  `CREATE UNIQUE INDEX console_invitations_email ON console_invitations (tenant_id, email_key)`,
  `CREATE INDEX console_invitations_person ON console_invitations (email_key)`,
  `CREATE INDEX console_invitations_expiry ON console_invitations (expires_at)`,
]

export const until0029 = [
  /** Running sessions found by person and by address, and a pause of lockout that somebody has ended. */
  {
    name: '0008-people',
    statements: [
      `ALTER TABLE users ADD COLUMN unlocked_at BIGINT`,
      `CREATE INDEX sessions_alive ON sessions (tenant_id, expires_at, sid)
      WHERE ended_at IS NULL`,
      `CREATE INDEX sessions_alive_user ON sessions (tenant_id, user_id, expires_at, sid)
      WHERE ended_at IS NULL`,
      `CREATE INDEX sessions_alive_ip ON sessions (tenant_id, ip, expires_at, sid)
      WHERE ended_at IS NULL`,
    ],
  },
  /** The analyzer key before this one, and until when it counts as well. */
  {
    name: '0009-analyzer-key-overlap',
    statements: [
      `ALTER TABLE tenants ADD COLUMN previous_analyzer_hash TEXT`,
      `ALTER TABLE tenants ADD COLUMN previous_analyzer_until BIGINT`,
      `CREATE INDEX tenants_previous_analyzer ON tenants (previous_analyzer_hash)`,
    ],
  },
  /** Figures of the whole service, and what the console's lists of events are filtered by. */
  {
    name: '0010-console-figures',
    statements: [
      `CREATE TABLE service_figures (
      step TEXT NOT NULL, at BIGINT NOT NULL, source TEXT NOT NULL, outcome TEXT NOT NULL,
      reason TEXT NOT NULL, count BIGINT NOT NULL,
      PRIMARY KEY (step, at, source, outcome, reason))`,
      `INSERT INTO service_figures
      SELECT step, at, source, outcome, reason, sum(count) FROM figures
      WHERE tenant_id <> 'console' GROUP BY step, at, source, outcome, reason`,
      // hours that have not become part of their day yet: of the service, days hold them at once
      `INSERT INTO service_figures
      SELECT 'day', at - at % 86400000, source, outcome, reason, sum(count) FROM service_figures
      WHERE step = 'hour' GROUP BY at - at % 86400000, source, outcome, reason
      ON CONFLICT (step, at, source, outcome, reason)
      DO UPDATE SET count = service_figures.count + excluded.count`,
      `CREATE TABLE tenant_refusals (
      tenant_id TEXT NOT NULL, step TEXT NOT NULL, at BIGINT NOT NULL, count BIGINT NOT NULL,
      PRIMARY KEY (tenant_id, step, at))`,
      `CREATE INDEX tenant_refusals_most ON tenant_refusals (step, at, count)`,
      `CREATE INDEX enforcement_events_outcome ON enforcement_events (tenant_id, outcome, sequence)`,
      `CREATE INDEX enforcement_events_subject ON enforcement_events (tenant_id, subject, sequence)`,
      `CREATE INDEX enforcement_events_ip ON enforcement_events (tenant_id, ip, sequence)`,
      `CREATE INDEX outbox_event ON outbox (tenant_id, event, sequence)`,
      `CREATE INDEX sign_ins_outcome ON sign_ins (tenant_id, outcome, at)`,
    ],
  },
  /** Whose an entry of the audit trail is, and who made it, where ids and addresses are given again. */
  {
    name: '0011-tenant-numbers',
    statements: [
      `ALTER TABLE tenants ADD COLUMN number BIGINT NOT NULL DEFAULT 0`,
      `UPDATE tenants SET number = counted.number FROM (
      SELECT tenant_id, row_number() OVER (ORDER BY created_at, tenant_id) AS number FROM tenants
    ) AS counted WHERE counted.tenant_id = tenants.tenant_id`,
      `INSERT INTO counters SELECT 'tenant', count(*) FROM tenants`,
      `CREATE UNIQUE INDEX tenants_number ON tenants (number)`,
      `ALTER TABLE audit ADD COLUMN tenant_number BIGINT`,
      `ALTER TABLE audit ADD COLUMN actor_id TEXT`,
      // what was written before the tenant was created was about one that had its id before
      `UPDATE audit SET tenant_number = own.number FROM (
      SELECT tenants.tenant_id, tenants.number, coalesce(max(created.sequence), 0) AS since
      FROM tenants LEFT JOIN audit AS created
        ON created.tenant_id = tenants.tenant_id AND created.action = 'tenant.created'
      GROUP BY tenants.tenant_id, tenants.number
    ) AS own WHERE audit.tenant_id = own.tenant_id AND audit.sequence >= own.since`,
      `CREATE INDEX audit_tenant_number ON audit (tenant_number, sequence)`,
    ],
  },
  /** Device cookies that are new at each sign-in: for a while the one before counts as well. */
  {
    name: '0012-renewed-devices',
    statements: [
      `ALTER TABLE known_devices ADD COLUMN replaced_hash TEXT`,
      `ALTER TABLE known_devices ADD COLUMN replaced_at BIGINT`,
      `CREATE INDEX known_devices_replaced ON known_devices (tenant_id, user_id, replaced_hash)`,
    ],
  },
  /** A key per gateway, found by its hash. */
  {
    name: '0013-gateway-keys',
    statements: [
      `CREATE TABLE gateway_keys (
      key_id TEXT PRIMARY KEY, gateway_id TEXT NOT NULL, key_hash TEXT NOT NULL UNIQUE,
      created_at BIGINT NOT NULL, last_used_at BIGINT)`,
      `CREATE INDEX gateway_keys_gateway ON gateway_keys (gateway_id)`,
    ],
  },
  /** Who opened a sign-in, so that nobody fills the table; refusals that are counted on one row. */
  {
    name: '0014-strangers',
    statements: [
      'ALTER TABLE realm_records ADD COLUMN opened_by TEXT',
      'CREATE INDEX realm_records_open ON realm_records (tenant_id, model, opened_by, expires_at)',
      'ALTER TABLE sign_ins ADD COLUMN repeated BIGINT NOT NULL DEFAULT 0',
    ],
  },
  /** Pages about people of the console: what the trail says of one, who is invited, forms that wait. */

  {
    name: '0015-console-people',
    statements: pagesAboutPeople,
    // what SQLite alone can read is about entries that no other database has
    postgres: pagesAboutPeople.filter((text) => !text.includes('json_type')),
  },
  /** What a webhook was not sent nor kept for, and by which revision a tenant began. */
  {
    name: '0016-left-behind',
    statements: [
      `ALTER TABLE webhooks ADD COLUMN dropped_count BIGINT NOT NULL DEFAULT 0`,
      `ALTER TABLE webhooks ADD COLUMN dropped_since BIGINT`,
      `ALTER TABLE tenants ADD COLUMN created_revision BIGINT NOT NULL DEFAULT 0`,
    ],
  },
  /** Sign-ins that are still open are counted from an index alone, whatever has been consumed. */
  {
    name: '0017-open-records',
    statements: [
      'DROP INDEX realm_records_open',
      `CREATE INDEX realm_records_open
      ON realm_records (tenant_id, model, opened_by, expires_at, id_hash, consumed_at)
      WHERE consumed_at IS NULL AND opened_by IS NOT NULL`,
      `CREATE INDEX realm_records_open_all
      ON realm_records (tenant_id, model, expires_at, id_hash, consumed_at, opened_by)
      WHERE consumed_at IS NULL AND opened_by IS NOT NULL`,
    ],
  },
  /** A form that is sent twice has one answer; one that was changed in between is not the same form. */
  {
    name: '0018-form-content',
    statements: ['ALTER TABLE console_forms ADD COLUMN content_hash TEXT'],
  },
  /** Whose browser shows a cookie is found by the cookie alone, before anybody has said who they are. */
  {
    name: '0019-device-tokens',
    statements: ['CREATE INDEX known_devices_token ON known_devices (tenant_id, cookie_hash)'],
  },
  /**
   * People of a tenant's own database had the keys by which our own users are found, and so kept each
   * other out by names that only look alike to us. Theirs end in their id (`accounts/login-keys.ts`).
   */
  {
    name: '0020-directory-keys',
    statements: [
      `UPDATE users SET username_key = username_key || '\n' || user_id,
      email_key = email_key || '\n' || user_id WHERE source = 'directory'`,
    ],
  },
  /**
   * What a sign-in asks for is found by all that it names. SQLite keeps no statistics here: between
   * two indexes it takes the one of which more columns are asked for, however little they tell apart.
   */
  {
    name: '0021-selective-indexes',
    statements: [
      'DROP INDEX sign_ins_login',
      `CREATE INDEX sign_ins_login
      ON sign_ins (tenant_id, login_hash, is_known_device, is_failure, at)`,
      'DROP INDEX sign_ins_address',
      'CREATE INDEX sign_ins_address ON sign_ins (tenant_id, counted_as, is_failure, at)',
      'DROP INDEX sign_ins_user',
      'CREATE INDEX sign_ins_user ON sign_ins (tenant_id, user_id, outcome, at)',
      'DROP INDEX sessions_user',
      'CREATE INDEX sessions_user ON sessions (tenant_id, user_id, created_at)',
      'DROP INDEX known_devices_token',
      `CREATE INDEX known_devices_token ON known_devices (tenant_id, cookie_hash, user_id)`,
      'CREATE INDEX figure_batches_age ON figure_batches (taken_at)',
      `ALTER TABLE revocations ADD COLUMN kept_until BIGINT NOT NULL DEFAULT 0`,
      // which sessions these have ended is not known any more: as long as the tenant's last one
      `UPDATE revocations SET kept_until = ofTenant.until FROM
      (SELECT tenant_id, max(expires_at) AS until FROM sessions GROUP BY tenant_id) AS ofTenant
      WHERE ofTenant.tenant_id = revocations.tenant_id`,
      'CREATE INDEX revocations_kept ON revocations (kept_until)',
    ],
  },
  /** Mails go out tenant by tenant, what somebody waits for first, and not when their link is dead. */
  {
    name: '0022-mail-turns',
    statements: [
      `ALTER TABLE mails ADD COLUMN kind TEXT NOT NULL DEFAULT 'notice'`,
      `ALTER TABLE mails ADD COLUMN expires_at BIGINT`,
      `DROP INDEX mails_next`,
      `CREATE INDEX mails_turn ON mails (tenant_id, kind, next_at)`,
    ],
  },
  /** What is due is found by its time: whatever else waits is no work for whoever asks. */
  {
    name: '0023-due-mails',
    statements: ['CREATE INDEX mails_due ON mails (next_at, tenant_id)'],
  },
  /** Applications are told of ended sessions tenant by tenant, as mails go out. */
  {
    name: '0024-notice-turns',
    statements: [
      'DROP INDEX logout_notices_next',
      'CREATE INDEX logout_notices_turn ON logout_notices (tenant_id, next_at)',
      'CREATE INDEX logout_notices_due ON logout_notices (next_at, tenant_id)',
    ],
  },
  /** A tenant is gone at once; that something of it is left to be deleted, its tombstone says. */
  {
    name: '0025-removed-tenants',
    statements: [
      'ALTER TABLE tenant_tombstones ADD COLUMN is_left_behind BIGINT NOT NULL DEFAULT 0',
      'CREATE INDEX tenant_tombstones_left ON tenant_tombstones (is_left_behind, tenant_id)',
    ],
  },
  /** What waits for a webhook is over by one change of the webhook, however much it is. */
  {
    name: '0026-webhook-generations',
    statements: [
      'ALTER TABLE webhooks ADD COLUMN generation BIGINT NOT NULL DEFAULT 0',
      'ALTER TABLE webhook_deliveries ADD COLUMN generation BIGINT NOT NULL DEFAULT 0',
      'DROP INDEX webhook_deliveries_due',
      `CREATE INDEX webhook_deliveries_due
      ON webhook_deliveries (state, webhook_id, generation, next_at)`,
      `CREATE TABLE webhook_endings (
      webhook_id TEXT NOT NULL, generation BIGINT NOT NULL, tenant_id TEXT NOT NULL,
      state TEXT NOT NULL, problem TEXT NOT NULL, PRIMARY KEY (webhook_id, generation))`,
      'CREATE INDEX webhook_endings_tenant ON webhook_endings (tenant_id)',
    ],
  },
  /** Whoever has a /48 of IPv6 has 65,536 networks: what fails there is counted together as well. */
  {
    name: '0027-sites',
    statements: [
      'ALTER TABLE sign_ins ADD COLUMN site TEXT',
      `CREATE INDEX sign_ins_site ON sign_ins (tenant_id, site, at)
      WHERE is_failure = 1 AND site IS NOT NULL`,
    ],
  },
  /** Of what was given up, what was not sent again yet is found by when it was given up. */
  {
    name: '0028-sent-again',
    statements: [
      'ALTER TABLE webhook_deliveries ADD COLUMN is_sent_again BIGINT NOT NULL DEFAULT 0',
      `UPDATE webhook_deliveries SET is_sent_again = 1 WHERE delivery_id IN
      (SELECT replayed_from FROM webhook_deliveries WHERE replayed_from IS NOT NULL)`,
      'DROP INDEX webhook_deliveries_replayed',
      `CREATE INDEX webhook_deliveries_given_up
      ON webhook_deliveries (webhook_id, updated_at, delivery_id)
      WHERE state = 'failed' AND is_sent_again = 0`,
    ],
  },
  /** How much of a tenant's deliveries is kept, so that nobody has to look at all of them. */
  {
    name: '0029-kept-deliveries',
    statements: [
      'CREATE TABLE webhook_kept (tenant_id TEXT PRIMARY KEY, bytes BIGINT NOT NULL)',
      `INSERT INTO webhook_kept (tenant_id, bytes)
      SELECT tenant_id, sum(octet_length(body) + 1000) FROM webhook_deliveries GROUP BY tenant_id`,
      `UPDATE webhook_kept SET bytes = webhook_kept.bytes + answered.bytes FROM
      (SELECT tenant_id, sum(octet_length(first_bytes)) AS bytes
        FROM webhook_attempts GROUP BY tenant_id) AS answered
      WHERE answered.tenant_id = webhook_kept.tenant_id`,
    ],
  },
] as const
