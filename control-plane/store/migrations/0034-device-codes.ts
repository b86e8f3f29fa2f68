/** Command line tools that wait until somebody in the console allows them a tenant's key. */
export const deviceCodes = {
  name: '0034-device-codes',
  statements: [
    `CREATE TABLE device_codes (
      device_hash TEXT PRIMARY KEY,
      user_code_hash TEXT NOT NULL,
      machine TEXT NOT NULL,
      application TEXT NOT NULL,
      address TEXT NOT NULL,
      network TEXT NOT NULL,
      site TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      polled_at BIGINT,
      interval_seconds BIGINT NOT NULL,
      state TEXT NOT NULL,
      tenant_id TEXT,
      allowed_by TEXT,
      hands_secret BIGINT NOT NULL
    )`,
    'CREATE UNIQUE INDEX device_codes_user_code ON device_codes (user_code_hash)',
    'CREATE INDEX device_codes_network ON device_codes (network, expires_at)',
    'CREATE INDEX device_codes_site ON device_codes (site, expires_at)',
    'CREATE INDEX device_codes_expiry ON device_codes (expires_at)',
    'CREATE INDEX device_codes_tenant ON device_codes (tenant_id)',
  ],
} as const
