/** Certificates that are ordered by ourselves; those that are there have all been uploaded. */
export const acmeOrders = {
  name: '0062-acme-orders',
  statements: [
    `ALTER TABLE tenant_certificates ADD COLUMN is_ordered BIGINT NOT NULL DEFAULT 0`,
    `CREATE TABLE acme_orders (
      hostname TEXT PRIMARY KEY,
      tenant_id TEXT NOT NULL,
      step TEXT NOT NULL,
      turn BIGINT NOT NULL DEFAULT 0,
      due_at BIGINT NOT NULL,
      authority TEXT,
      order_url TEXT,
      started_at BIGINT,
      private_key_sealed TEXT,
      failures BIGINT NOT NULL DEFAULT 0,
      problem TEXT,
      issued_by TEXT,
      renew_at BIGINT
    )`,
    `CREATE INDEX acme_orders_due ON acme_orders (due_at)`,
    `CREATE INDEX acme_orders_tenant ON acme_orders (tenant_id)`,
    `CREATE TABLE acme_authorities (
      directory TEXT PRIMARY KEY,
      paused_until BIGINT NOT NULL,
      refusals BIGINT NOT NULL
    )`,
  ],
} as const
