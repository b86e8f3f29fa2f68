/** Migrations of version 0.2.0 and before, in their order. They are released: none is ever edited. */
export const until0007 = [
  {
    name: '0001-first',
    statements: [
      `CREATE TABLE counters (name TEXT PRIMARY KEY, value BIGINT NOT NULL)`,
      `CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)`,
      `CREATE TABLE tenants (
      tenant_id TEXT PRIMARY KEY, name TEXT NOT NULL, mode TEXT NOT NULL, plan TEXT NOT NULL,
      status TEXT NOT NULL, protection TEXT NOT NULL, licence TEXT NOT NULL,
      licence_blocks_signin BIGINT NOT NULL, origin TEXT NOT NULL, sealed TEXT NOT NULL,
      excluded TEXT NOT NULL, health TEXT NOT NULL, max_session_seconds BIGINT NOT NULL,
      idle_seconds BIGINT NOT NULL, session_binding TEXT NOT NULL,
      client_secret_sealed TEXT NOT NULL, client_secret_hash TEXT NOT NULL,
      analyzer_key_sealed TEXT NOT NULL, analyzer_key_hash TEXT NOT NULL,
      revision BIGINT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
      published_at BIGINT, protection_at BIGINT)`,
      `CREATE UNIQUE INDEX tenants_analyzer_key_hash ON tenants (analyzer_key_hash)`,
      `CREATE INDEX tenants_revision ON tenants (revision)`,
      `CREATE TABLE tenant_hostnames (
      hostname TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, position BIGINT NOT NULL)`,
      `CREATE INDEX tenant_hostnames_tenant ON tenant_hostnames (tenant_id)`,
      `CREATE TABLE tenant_certificates (
      hostname TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, certificate_pem TEXT NOT NULL,
      private_key_sealed TEXT NOT NULL, not_after BIGINT NOT NULL, updated_at BIGINT NOT NULL)`,
      `CREATE INDEX tenant_certificates_tenant ON tenant_certificates (tenant_id)`,
      `CREATE TABLE tenant_tombstones (tenant_id TEXT PRIMARY KEY, revision BIGINT NOT NULL)`,
      `CREATE INDEX tenant_tombstones_revision ON tenant_tombstones (revision)`,
      `CREATE TABLE signing_keys (
      kid TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, phase TEXT NOT NULL,
      public_jwk TEXT NOT NULL, private_pem_sealed TEXT NOT NULL, created_at BIGINT NOT NULL,
      promoted_at BIGINT, retired_at BIGINT)`,
      `CREATE INDEX signing_keys_tenant ON signing_keys (tenant_id)`,
      `CREATE TABLE users (
      user_id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, username TEXT NOT NULL,
      username_key TEXT NOT NULL, email TEXT NOT NULL, email_key TEXT NOT NULL,
      name TEXT NOT NULL, password_hash TEXT NOT NULL, is_disabled BIGINT NOT NULL,
      created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)`,
      `CREATE UNIQUE INDEX users_username ON users (tenant_id, username_key)`,
      `CREATE UNIQUE INDEX users_email ON users (tenant_id, email_key)`,
      `CREATE TABLE sessions (
      sid TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, user_id TEXT NOT NULL, ip TEXT NOT NULL,
      user_agent TEXT NOT NULL, created_at BIGINT NOT NULL, issued_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL, last_seen_at BIGINT NOT NULL, ended_at BIGINT,
      end_reason TEXT)`,
      `CREATE INDEX sessions_tenant ON sessions (tenant_id, created_at)`,
      `CREATE INDEX sessions_user ON sessions (tenant_id, user_id)`,
      `CREATE INDEX sessions_expiry ON sessions (expires_at)`,
      `CREATE TABLE revocations (
      tenant_id TEXT NOT NULL, kind TEXT NOT NULL, target TEXT NOT NULL,
      not_before BIGINT NOT NULL, created_at BIGINT NOT NULL,
      PRIMARY KEY (tenant_id, kind, target))`,
      `CREATE TABLE realm_records (
      tenant_id TEXT NOT NULL, model TEXT NOT NULL, id_hash TEXT NOT NULL,
      payload_sealed TEXT NOT NULL, grant_id TEXT, uid_hash TEXT, account_id TEXT,
      sid TEXT, consumed_at BIGINT, expires_at BIGINT NOT NULL,
      PRIMARY KEY (tenant_id, model, id_hash))`,
      `CREATE INDEX realm_records_grant ON realm_records (tenant_id, grant_id)`,
      `CREATE INDEX realm_records_uid ON realm_records (tenant_id, uid_hash)`,
      `CREATE INDEX realm_records_account ON realm_records (tenant_id, account_id)`,
      `CREATE INDEX realm_records_sid ON realm_records (tenant_id, sid)`,
      `CREATE INDEX realm_records_expiry ON realm_records (expires_at)`,
      `CREATE TABLE outbox (
      sequence BIGINT PRIMARY KEY, event_id TEXT NOT NULL, tenant_id TEXT NOT NULL,
      event TEXT NOT NULL, content TEXT NOT NULL, created_at BIGINT NOT NULL)`,
      `CREATE INDEX outbox_tenant ON outbox (tenant_id, sequence)`,
      `CREATE TABLE audit (
      sequence BIGINT PRIMARY KEY, at BIGINT NOT NULL, actor TEXT NOT NULL,
      action TEXT NOT NULL, tenant_id TEXT, content TEXT NOT NULL, request_id TEXT NOT NULL)`,
      `CREATE INDEX audit_tenant ON audit (tenant_id, sequence)`,
      `CREATE TABLE verification_checks (
      tenant_id TEXT NOT NULL, check_name TEXT NOT NULL, source TEXT NOT NULL,
      status TEXT NOT NULL, detail TEXT NOT NULL, next_action TEXT NOT NULL,
      at BIGINT NOT NULL, PRIMARY KEY (tenant_id, check_name, source))`,
    ],
  },
  /** Policies, recorded sign-ins, second factors, devices, mail, own databases. */
  {
    name: '0002-sign-in',
    statements: [
      `ALTER TABLE tenants ADD COLUMN brand_colour TEXT`,
      `ALTER TABLE tenants ADD COLUMN brand_logo TEXT`,
      `ALTER TABLE tenants ADD COLUMN brand_logo_tag TEXT`,
      `ALTER TABLE tenants ADD COLUMN backchannel_logout_uri TEXT`,
      `ALTER TABLE users ADD COLUMN source TEXT NOT NULL DEFAULT 'own'`,
      `ALTER TABLE users ADD COLUMN password_changed_at BIGINT NOT NULL DEFAULT 0`,
      `ALTER TABLE users ADD COLUMN email_proven_at BIGINT`,
      `UPDATE users SET password_changed_at = updated_at`,
      `CREATE TABLE tenant_policies (
      tenant_id TEXT NOT NULL, name TEXT NOT NULL, settings TEXT NOT NULL,
      updated_at BIGINT NOT NULL, PRIMARY KEY (tenant_id, name))`,
      `CREATE TABLE sign_ins (
      sign_in_id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, at BIGINT NOT NULL, user_id TEXT,
      login_hash TEXT NOT NULL, ip TEXT NOT NULL, counted_as TEXT NOT NULL DEFAULT '',
      user_agent TEXT NOT NULL,
      is_failure BIGINT NOT NULL, is_known_device BIGINT NOT NULL, outcome TEXT NOT NULL,
      reason TEXT NOT NULL, facts TEXT NOT NULL)`,
      `CREATE INDEX sign_ins_tenant ON sign_ins (tenant_id, at)`,
      `CREATE INDEX sign_ins_login ON sign_ins (tenant_id, login_hash, at)`,
      `CREATE INDEX sign_ins_address ON sign_ins (tenant_id, counted_as, at)`,
      `CREATE INDEX sign_ins_user ON sign_ins (tenant_id, user_id, at)`,
      `CREATE INDEX sign_ins_at ON sign_ins (at)`,
      `CREATE TABLE address_blocks (
      tenant_id TEXT NOT NULL, address TEXT NOT NULL, failures BIGINT NOT NULL,
      created_at BIGINT NOT NULL, blocked_until BIGINT NOT NULL, lifted_at BIGINT,
      PRIMARY KEY (tenant_id, address))`,
      `CREATE TABLE factors (
      factor_id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, user_id TEXT NOT NULL,
      kind TEXT NOT NULL, name TEXT NOT NULL, secret_sealed TEXT NOT NULL, lookup_hash TEXT,
      last_step BIGINT NOT NULL DEFAULT 0, created_at BIGINT NOT NULL, last_used_at BIGINT)`,
      `CREATE INDEX factors_user ON factors (tenant_id, user_id)`,
      `CREATE UNIQUE INDEX factors_lookup ON factors (tenant_id, kind, lookup_hash)`,
      `CREATE TABLE known_devices (
      device_id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, user_id TEXT NOT NULL,
      cookie_hash TEXT NOT NULL, user_agent TEXT NOT NULL, ip TEXT NOT NULL,
      created_at BIGINT NOT NULL, last_seen_at BIGINT NOT NULL)`,
      `CREATE UNIQUE INDEX known_devices_cookie ON known_devices (tenant_id, user_id, cookie_hash)`,
      `CREATE INDEX known_devices_seen ON known_devices (last_seen_at)`,
      `CREATE TABLE account_tickets (
      ticket_hash TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, user_id TEXT NOT NULL,
      purpose TEXT NOT NULL, content_sealed TEXT NOT NULL, created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL, used_at BIGINT)`,
      `CREATE INDEX account_tickets_user ON account_tickets (tenant_id, user_id)`,
      `CREATE INDEX account_tickets_expiry ON account_tickets (expires_at)`,
      `CREATE TABLE password_history (
      entry_id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, user_id TEXT NOT NULL,
      password_hash TEXT NOT NULL, replaced_at BIGINT NOT NULL)`,
      `CREATE INDEX password_history_user ON password_history (tenant_id, user_id)`,
      `CREATE TABLE mails (
      mail_id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, content_sealed TEXT NOT NULL,
      attempts BIGINT NOT NULL, created_at BIGINT NOT NULL, next_at BIGINT NOT NULL)`,
      `CREATE INDEX mails_next ON mails (next_at)`,
      `CREATE TABLE logout_notices (
      notice_id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, user_id TEXT NOT NULL, sid TEXT,
      attempts BIGINT NOT NULL, created_at BIGINT NOT NULL, next_at BIGINT NOT NULL)`,
      `CREATE INDEX logout_notices_next ON logout_notices (next_at)`,
      `CREATE TABLE user_directories (
      tenant_id TEXT PRIMARY KEY, settings TEXT NOT NULL, password_sealed TEXT NOT NULL,
      updated_at BIGINT NOT NULL)`,
    ],
  },
  /** The enforcement feed: who polls it, what they report; and two client secrets at a time. */
  {
    name: '0003-feed',
    statements: [
      `ALTER TABLE tenants ADD COLUMN previous_secret_sealed TEXT`,
      `ALTER TABLE tenants ADD COLUMN previous_secret_hash TEXT`,
      `ALTER TABLE tenants ADD COLUMN previous_secret_until BIGINT`,
      `CREATE INDEX tenants_previous_secret ON tenants (previous_secret_until)`,
      `ALTER TABLE tenants ADD COLUMN integration_completed_at BIGINT`,
      `CREATE TABLE feed_instances (
      tenant_id TEXT NOT NULL, name TEXT NOT NULL, version TEXT NOT NULL, etag TEXT NOT NULL,
      clock_offset_ms BIGINT, last_poll_at BIGINT NOT NULL, PRIMARY KEY (tenant_id, name))`,
      `CREATE INDEX feed_instances_poll ON feed_instances (last_poll_at)`,
      `CREATE TABLE enforcement_events (
      tenant_id TEXT NOT NULL, sequence BIGINT NOT NULL, at BIGINT NOT NULL,
      outcome TEXT NOT NULL, subject TEXT, sid TEXT, reason TEXT, ip TEXT, app_host TEXT,
      instance TEXT NOT NULL, PRIMARY KEY (tenant_id, sequence))`,
      `CREATE INDEX enforcement_events_tenant ON enforcement_events (tenant_id, at)`,
      `CREATE INDEX enforcement_events_at ON enforcement_events (at)`,
    ],
  },
  /** Webhooks: who wants to be told, what is on its way to them, and every attempt at it. */
  {
    name: '0004-webhooks',
    statements: [
      `CREATE TABLE webhooks (
      webhook_id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, url TEXT NOT NULL,
      events TEXT NOT NULL, description TEXT NOT NULL, secret_sealed TEXT NOT NULL,
      previous_secret_sealed TEXT, previous_secret_until BIGINT, state TEXT NOT NULL,
      paused_reason TEXT, from_sequence BIGINT NOT NULL, failed_count BIGINT NOT NULL,
      failing_since BIGINT, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)`,
      `CREATE INDEX webhooks_tenant ON webhooks (tenant_id, created_at, webhook_id)`,
      `CREATE TABLE webhook_deliveries (
      delivery_id TEXT PRIMARY KEY, webhook_id TEXT NOT NULL, tenant_id TEXT NOT NULL,
      event TEXT NOT NULL, body TEXT NOT NULL, is_test BIGINT NOT NULL, state TEXT NOT NULL,
      problem TEXT, attempts BIGINT NOT NULL, next_at BIGINT NOT NULL, lease_owner TEXT,
      lease_until BIGINT, replayed_from TEXT, created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL)`,
      `CREATE INDEX webhook_deliveries_due ON webhook_deliveries (state, webhook_id, next_at)`,
      `CREATE INDEX webhook_deliveries_listed
      ON webhook_deliveries (webhook_id, created_at, delivery_id)`,
      `CREATE INDEX webhook_deliveries_states
      ON webhook_deliveries (webhook_id, state, created_at, delivery_id)`,
      `CREATE INDEX webhook_deliveries_tenant ON webhook_deliveries (tenant_id, state, updated_at)`,
      `CREATE INDEX webhook_deliveries_settled ON webhook_deliveries (state, updated_at)`,
      `CREATE INDEX webhook_deliveries_replayed ON webhook_deliveries (replayed_from)`,
      `CREATE TABLE webhook_attempts (
      delivery_id TEXT NOT NULL, number BIGINT NOT NULL, tenant_id TEXT NOT NULL,
      at BIGINT NOT NULL, status BIGINT, milliseconds BIGINT NOT NULL, first_bytes TEXT NOT NULL,
      problem TEXT NOT NULL, PRIMARY KEY (delivery_id, number))`,
      `CREATE INDEX webhook_attempts_tenant ON webhook_attempts (tenant_id)`,
      `CREATE INDEX outbox_created ON outbox (created_at)`,
      `CREATE INDEX audit_at ON audit (at)`,
    ],
  },
  /** Figures of what was decided, threshold alerts, weekly digests, and licences with dates. */
  {
    name: '0005-monitoring',
    statements: [
      `ALTER TABLE tenants ADD COLUMN time_zone TEXT NOT NULL DEFAULT 'UTC'`,
      `ALTER TABLE tenants ADD COLUMN licence_grace_from BIGINT`,
      `ALTER TABLE tenants ADD COLUMN licence_expires_at BIGINT`,
      `ALTER TABLE tenants ADD COLUMN licence_expiry_blocks BIGINT NOT NULL DEFAULT 0`,
      `ALTER TABLE tenants ADD COLUMN licence_due_at BIGINT`,
      `CREATE INDEX tenants_time_zone ON tenants (time_zone, tenant_id)`,
      `CREATE INDEX tenants_licence_due ON tenants (licence_due_at)`,
      `CREATE TABLE figures (
      tenant_id TEXT NOT NULL, step TEXT NOT NULL, at BIGINT NOT NULL, source TEXT NOT NULL,
      outcome TEXT NOT NULL, reason TEXT NOT NULL, count BIGINT NOT NULL,
      PRIMARY KEY (tenant_id, step, at, source, outcome, reason))`,
      `CREATE INDEX figures_age ON figures (step, at)`,
      `CREATE TABLE figure_batches (
      gateway_id TEXT PRIMARY KEY, run TEXT NOT NULL, batch BIGINT NOT NULL,
      taken_at BIGINT NOT NULL)`,
      `CREATE TABLE alerts (
      alert_id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, metric TEXT NOT NULL,
      threshold BIGINT NOT NULL, window_seconds BIGINT NOT NULL,
      cool_down_seconds BIGINT NOT NULL, is_enabled BIGINT NOT NULL, created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL, is_above BIGINT NOT NULL, triggered_at BIGINT)`,
      `CREATE INDEX alerts_tenant ON alerts (tenant_id, alert_id)`,
      `CREATE TABLE digests (
      tenant_id TEXT NOT NULL, week TEXT NOT NULL, until BIGINT NOT NULL, edge TEXT NOT NULL,
      PRIMARY KEY (tenant_id, week))`,
      `CREATE INDEX digests_until ON digests (until)`,
    ],
  },
  /** Guides that a model wrote, and what asking for them has cost. */
  {
    name: '0006-analysis',
    statements: [
      `CREATE TABLE guides (
      guide_id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, number BIGINT NOT NULL,
      created_at BIGINT NOT NULL, framework TEXT NOT NULL, model TEXT NOT NULL,
      content TEXT NOT NULL)`,
      `CREATE UNIQUE INDEX guides_tenant ON guides (tenant_id, number)`,
      `CREATE TABLE analyses (
      analysis_id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, started_at BIGINT NOT NULL,
      outcome TEXT NOT NULL, tokens BIGINT NOT NULL)`,
      `CREATE INDEX analyses_tenant ON analyses (tenant_id, started_at)`,
      `CREATE INDEX analyses_started ON analyses (started_at)`,
    ],
  },
  /** Who may do what in the console, its sessions, its links for first operators, its spent forms. */
  {
    name: '0007-console',
    statements: [
      `CREATE TABLE console_roles (
      user_id TEXT NOT NULL, tenant_id TEXT NOT NULL, role TEXT NOT NULL, created_at BIGINT NOT NULL,
      PRIMARY KEY (user_id, tenant_id))`,
      `CREATE INDEX console_roles_tenant ON console_roles (tenant_id, user_id)`,
      `CREATE TABLE console_sessions (
      session_hash TEXT PRIMARY KEY, user_id TEXT NOT NULL, sid TEXT NOT NULL,
      signed_in_at BIGINT NOT NULL, created_at BIGINT NOT NULL, last_seen_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL)`,
      `CREATE INDEX console_sessions_expiry ON console_sessions (expires_at)`,
      `CREATE TABLE console_links (
      link_hash TEXT PRIMARY KEY, created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL,
      used_at BIGINT)`,
      `CREATE TABLE console_forms (
      form_hash TEXT PRIMARY KEY, created_at BIGINT NOT NULL, location TEXT)`,
      `CREATE INDEX console_forms_age ON console_forms (created_at)`,
    ],
  },
] as const
