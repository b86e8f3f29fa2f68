/** What waits for a webhook is over by one change of the webhook, however much it is. */
export const webhookGenerations = {
  name: '0026-webhook-generations',
  statements: [
    'ALTER TABLE webhooks ADD COLUMN generation BIGINT NOT NULL DEFAULT 0',
    'ALTER TABLE webhook_deliveries ADD COLUMN generation BIGINT NOT NULL DEFAULT 0',
    'DROP INDEX webhook_deliveries_due',
    `CREATE INDEX webhook_deliveries_due
      ON webhook_deliveries (state, webhook_id, generation, next_at)`,
    `CREATE TABLE webhook_endings (
      webhook_id TEXT NOT NULL, generation BIGINT NOT NULL, tenant_id TEXT NOT NULL,
      state TEXT NOT NULL, problem TEXT NOT NULL, PRIMARY KEY (webhook_id, generation))`,
    'CREATE INDEX webhook_endings_tenant ON webhook_endings (tenant_id)',
  ],
} as const
