/** Who may do what in the console, its sessions, its links for first operators, its spent forms. */
export const consoleAccess = {
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
} as const
