/** Device cookies that are new at each sign-in: for a while the one before counts as well. */
export const renewedDevices = {
  name: '0012-renewed-devices',
  statements: [
    `ALTER TABLE known_devices ADD COLUMN replaced_hash TEXT`,
    `ALTER TABLE known_devices ADD COLUMN replaced_at BIGINT`,
    `CREATE INDEX known_devices_replaced ON known_devices (tenant_id, user_id, replaced_hash)`,
  ],
} as const
