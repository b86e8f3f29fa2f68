/** Policies, recorded sign-ins, second factors, devices, mail, own databases. */
export const signIn = {
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
} as const
