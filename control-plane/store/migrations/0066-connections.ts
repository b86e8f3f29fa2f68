/** Sign-in with the company's own identity provider. */
export const connections = {
  name: '0066-connections',
  statements: [
    `CREATE TABLE connections (
      connection_id TEXT PRIMARY KEY,
      tenant_id TEXT NOT NULL,
      preset TEXT NOT NULL,
      name TEXT NOT NULL,
      issuer TEXT NOT NULL,
      client_id TEXT NOT NULL,
      client_secret_sealed TEXT NOT NULL,
      hosted_domain TEXT,
      state TEXT NOT NULL,
      creates_people BIGINT NOT NULL,
      mfa_values TEXT NOT NULL,
      is_required BIGINT NOT NULL DEFAULT 0,
      tested_at BIGINT,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL
    )`,
    `CREATE INDEX connections_tenant ON connections (tenant_id, created_at, connection_id)`,
    `CREATE TABLE connection_identities (
      connection_id TEXT NOT NULL,
      issuer TEXT NOT NULL,
      subject TEXT NOT NULL,
      tenant_id TEXT NOT NULL,
      user_id TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (connection_id, issuer, subject)
    )`,
    `CREATE INDEX connection_identities_user ON connection_identities (tenant_id, user_id)`,
  ],
} as const
