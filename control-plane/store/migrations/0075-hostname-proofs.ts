/** What a hostname was proven by, so that it can be looked for again; those of before are left alone. */
export const hostnameProofs = {
  name: '0075-hostname-proofs',
  statements: [
    `CREATE TABLE hostname_proofs (
      hostname TEXT PRIMARY KEY,
      tenant_id TEXT NOT NULL,
      token TEXT NOT NULL,
      turn BIGINT NOT NULL DEFAULT 0,
      due_at BIGINT NOT NULL,
      looked_at BIGINT,
      missing_since BIGINT,
      misses BIGINT NOT NULL DEFAULT 0
    )`,
    `CREATE INDEX hostname_proofs_due ON hostname_proofs (due_at)`,
    `CREATE INDEX hostname_proofs_tenant ON hostname_proofs (tenant_id)`,
  ],
} as const
