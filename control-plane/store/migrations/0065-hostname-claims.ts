/** Hostnames that a tenant's administrators add, until they are shown to be theirs. */
export const hostnameClaims = {
  name: '0065-hostname-claims',
  statements: [
    `CREATE TABLE hostname_claims (
      tenant_id TEXT NOT NULL,
      hostname TEXT NOT NULL,
      token TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      due_at BIGINT NOT NULL,
      looks BIGINT NOT NULL DEFAULT 0,
      looked_at BIGINT,
      PRIMARY KEY (tenant_id, hostname)
    )`,
    `CREATE INDEX hostname_claims_due ON hostname_claims (due_at)`,
    `CREATE INDEX hostname_claims_hostname ON hostname_claims (hostname)`,
  ],
} as const
