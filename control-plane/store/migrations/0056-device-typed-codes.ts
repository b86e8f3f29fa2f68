/** Codes that agents show and people type, where a policy allows that. */
export const deviceTypedCodes = {
  name: '0056-device-typed-codes',
  statements: [
    `CREATE TABLE device_typed_codes (
      device_id TEXT PRIMARY KEY,
      tenant_id TEXT NOT NULL,
      code_hash TEXT NOT NULL,
      expires_at BIGINT NOT NULL
    )`,
    'CREATE UNIQUE INDEX device_typed_codes_hash ON device_typed_codes (code_hash)',
    'CREATE INDEX device_typed_codes_tenant ON device_typed_codes (tenant_id)',
    'CREATE INDEX device_typed_codes_expiry ON device_typed_codes (expires_at)',
  ],
} as const
