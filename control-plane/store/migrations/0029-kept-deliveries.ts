/** How much of a tenant's deliveries is kept, so that nobody has to look at all of them. */
export const keptDeliveries = {
  name: '0029-kept-deliveries',
  statements: [
    'CREATE TABLE webhook_kept (tenant_id TEXT PRIMARY KEY, bytes BIGINT NOT NULL)',
    `INSERT INTO webhook_kept (tenant_id, bytes)
      SELECT tenant_id, sum(octet_length(body) + 1000) FROM webhook_deliveries GROUP BY tenant_id`,
    `UPDATE webhook_kept SET bytes = webhook_kept.bytes + answered.bytes FROM
      (SELECT tenant_id, sum(octet_length(first_bytes)) AS bytes
        FROM webhook_attempts GROUP BY tenant_id) AS answered
      WHERE answered.tenant_id = webhook_kept.tenant_id`,
  ],
} as const
