/** When machines were last seen, from where, and how often. Of those that are there, nothing is known. */
export const machineUses = {
  name: '0071-machine-uses',
  statements: [
    `ALTER TABLE services ADD COLUMN seen_at BIGINT`,
    `ALTER TABLE services ADD COLUMN seen_ip TEXT`,
    `CREATE TABLE service_uses (
      tenant_id TEXT NOT NULL,
      service_id TEXT NOT NULL,
      hour_at BIGINT NOT NULL,
      count BIGINT NOT NULL,
      PRIMARY KEY (tenant_id, service_id, hour_at)
    )`,
    `CREATE INDEX service_uses_age ON service_uses (hour_at)`,
  ],
} as const
