/** Machines and their secrets. Tenants that are there have none. */
export const services = {
  name: '0068-services',
  statements: [
    `CREATE TABLE services (
      service_id TEXT PRIMARY KEY,
      tenant_id TEXT NOT NULL,
      name TEXT NOT NULL,
      is_disabled BIGINT NOT NULL,
      created_at BIGINT NOT NULL,
      identity_at BIGINT NOT NULL
    )`,
    `CREATE INDEX services_tenant ON services (tenant_id)`,
    `CREATE INDEX services_identity ON services (identity_at)`,
    `CREATE TABLE service_secrets (
      secret_id TEXT PRIMARY KEY,
      tenant_id TEXT NOT NULL,
      service_id TEXT NOT NULL,
      secret_hash TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      ends_at BIGINT NOT NULL,
      used_at BIGINT
    )`,
    `CREATE INDEX service_secrets_tenant ON service_secrets (tenant_id)`,
  ],
} as const
