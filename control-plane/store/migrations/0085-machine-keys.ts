/** Keys of machines beside their secrets, what they have signed, and ends that nobody has noted yet. */
export const machineKeys = {
  name: '0085-machine-keys',
  statements: [
    `ALTER TABLE service_secrets ADD COLUMN public_key TEXT`,
    `ALTER TABLE service_secrets ADD COLUMN is_end_noted BIGINT NOT NULL DEFAULT 0`,
    `CREATE INDEX service_secrets_ends ON service_secrets (ends_at)`,
    `CREATE TABLE service_assertions (
      tenant_id TEXT NOT NULL,
      assertion_hash TEXT NOT NULL,
      ends_at BIGINT NOT NULL,
      PRIMARY KEY (tenant_id, assertion_hash)
    )`,
    `CREATE INDEX service_assertions_ends ON service_assertions (ends_at)`,
  ],
} as const
