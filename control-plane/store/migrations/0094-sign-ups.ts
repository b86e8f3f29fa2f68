/** People who have asked for an account themselves and wait for an administrator. */
export const signUps = {
  name: '0094-sign-ups',
  statements: [
    `CREATE TABLE sign_ups (
      sign_up_id TEXT PRIMARY KEY,
      tenant_id TEXT NOT NULL,
      email TEXT NOT NULL,
      email_key TEXT NOT NULL,
      name TEXT NOT NULL,
      password_hash TEXT NOT NULL,
      language TEXT NOT NULL,
      application_url TEXT NOT NULL,
      ip TEXT NOT NULL,
      proven_at BIGINT NOT NULL,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      told_at BIGINT
    )`,
    `CREATE UNIQUE INDEX sign_ups_email ON sign_ups (tenant_id, email_key)`,
    `CREATE INDEX sign_ups_tenant ON sign_ups (tenant_id, created_at, sign_up_id)`,
    `CREATE INDEX sign_ups_expires ON sign_ups (expires_at)`,
    `CREATE INDEX sign_ups_told ON sign_ups (told_at, tenant_id)`,
  ],
} as const
