export const first = {
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
} as const
