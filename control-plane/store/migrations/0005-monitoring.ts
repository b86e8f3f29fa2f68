/** Figures of what was decided, threshold alerts, weekly digests, and licences with dates. */
export const monitoring = {
  name: '0005-monitoring',
  statements: [
    `ALTER TABLE tenants ADD COLUMN time_zone TEXT NOT NULL DEFAULT 'UTC'`,
    `ALTER TABLE tenants ADD COLUMN licence_grace_from BIGINT`,
    `ALTER TABLE tenants ADD COLUMN licence_expires_at BIGINT`,
    `ALTER TABLE tenants ADD COLUMN licence_expiry_blocks BIGINT NOT NULL DEFAULT 0`,
    `ALTER TABLE tenants ADD COLUMN licence_due_at BIGINT`,
    `CREATE INDEX tenants_time_zone ON tenants (time_zone, tenant_id)`,
    `CREATE INDEX tenants_licence_due ON tenants (licence_due_at)`,
    `CREATE TABLE figures (
      tenant_id TEXT NOT NULL, step TEXT NOT NULL, at BIGINT NOT NULL, source TEXT NOT NULL,
      outcome TEXT NOT NULL, reason TEXT NOT NULL, count BIGINT NOT NULL,
      PRIMARY KEY (tenant_id, step, at, source, outcome, reason))`,
    `CREATE INDEX figures_age ON figures (step, at)`,
    `CREATE TABLE figure_batches (
      gateway_id TEXT PRIMARY KEY, run TEXT NOT NULL, batch BIGINT NOT NULL,
      taken_at BIGINT NOT NULL)`,
    `CREATE TABLE alerts (
      alert_id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, metric TEXT NOT NULL,
      threshold BIGINT NOT NULL, window_seconds BIGINT NOT NULL,
      cool_down_seconds BIGINT NOT NULL, is_enabled BIGINT NOT NULL, created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL, is_above BIGINT NOT NULL, triggered_at BIGINT)`,
    `CREATE INDEX alerts_tenant ON alerts (tenant_id, alert_id)`,
    `CREATE TABLE digests (
      tenant_id TEXT NOT NULL, week TEXT NOT NULL, until BIGINT NOT NULL, edge TEXT NOT NULL,
      PRIMARY KEY (tenant_id, week))`,
    `CREATE INDEX digests_until ON digests (until)`,
  ],
} as const
