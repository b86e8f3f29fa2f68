/** The enforcement feed: who polls it, what they report; and two client secrets at a time. */
export const feed = {
  name: '0003-feed',
  statements: [
    `ALTER TABLE tenants ADD COLUMN previous_secret_sealed TEXT`,
    `ALTER TABLE tenants ADD COLUMN previous_secret_hash TEXT`,
    `ALTER TABLE tenants ADD COLUMN previous_secret_until BIGINT`,
    `CREATE INDEX tenants_previous_secret ON tenants (previous_secret_until)`,
    `ALTER TABLE tenants ADD COLUMN integration_completed_at BIGINT`,
    `CREATE TABLE feed_instances (
      tenant_id TEXT NOT NULL, name TEXT NOT NULL, version TEXT NOT NULL, etag TEXT NOT NULL,
      clock_offset_ms BIGINT, last_poll_at BIGINT NOT NULL, PRIMARY KEY (tenant_id, name))`,
    `CREATE INDEX feed_instances_poll ON feed_instances (last_poll_at)`,
    `CREATE TABLE enforcement_events (
      tenant_id TEXT NOT NULL, sequence BIGINT NOT NULL, at BIGINT NOT NULL,
      outcome TEXT NOT NULL, subject TEXT, sid TEXT, reason TEXT, ip TEXT, app_host TEXT,
      instance TEXT NOT NULL, PRIMARY KEY (tenant_id, sequence))`,
    `CREATE INDEX enforcement_events_tenant ON enforcement_events (tenant_id, at)`,
    `CREATE INDEX enforcement_events_at ON enforcement_events (at)`,
  ],
} as const
