/** Webhooks: who wants to be told, what is on its way to them, and every attempt at it. */
export const webhooks = {
  name: '0004-webhooks',
  statements: [
    `CREATE TABLE webhooks (
      webhook_id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, url TEXT NOT NULL,
      events TEXT NOT NULL, description TEXT NOT NULL, secret_sealed TEXT NOT NULL,
      previous_secret_sealed TEXT, previous_secret_until BIGINT, state TEXT NOT NULL,
      paused_reason TEXT, from_sequence BIGINT NOT NULL, failed_count BIGINT NOT NULL,
      failing_since BIGINT, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)`,
    `CREATE INDEX webhooks_tenant ON webhooks (tenant_id, created_at, webhook_id)`,
    `CREATE TABLE webhook_deliveries (
      delivery_id TEXT PRIMARY KEY, webhook_id TEXT NOT NULL, tenant_id TEXT NOT NULL,
      event TEXT NOT NULL, body TEXT NOT NULL, is_test BIGINT NOT NULL, state TEXT NOT NULL,
      problem TEXT, attempts BIGINT NOT NULL, next_at BIGINT NOT NULL, lease_owner TEXT,
      lease_until BIGINT, replayed_from TEXT, created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL)`,
    `CREATE INDEX webhook_deliveries_due ON webhook_deliveries (state, webhook_id, next_at)`,
    `CREATE INDEX webhook_deliveries_listed
      ON webhook_deliveries (webhook_id, created_at, delivery_id)`,
    `CREATE INDEX webhook_deliveries_states
      ON webhook_deliveries (webhook_id, state, created_at, delivery_id)`,
    `CREATE INDEX webhook_deliveries_tenant ON webhook_deliveries (tenant_id, state, updated_at)`,
    `CREATE INDEX webhook_deliveries_settled ON webhook_deliveries (state, updated_at)`,
    `CREATE INDEX webhook_deliveries_replayed ON webhook_deliveries (replayed_from)`,
    `CREATE TABLE webhook_attempts (
      delivery_id TEXT NOT NULL, number BIGINT NOT NULL, tenant_id TEXT NOT NULL,
      at BIGINT NOT NULL, status BIGINT, milliseconds BIGINT NOT NULL, first_bytes TEXT NOT NULL,
      problem TEXT NOT NULL, PRIMARY KEY (delivery_id, number))`,
    `CREATE INDEX webhook_attempts_tenant ON webhook_attempts (tenant_id)`,
    `CREATE INDEX outbox_created ON outbox (created_at)`,
    `CREATE INDEX audit_at ON audit (at)`,
  ],
} as const
