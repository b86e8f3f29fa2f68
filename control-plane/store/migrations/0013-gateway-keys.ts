/** A key per gateway, found by its hash. */
export const gatewayKeys = {
  name: '0013-gateway-keys',
  statements: [
    `CREATE TABLE gateway_keys (
      key_id TEXT PRIMARY KEY, gateway_id TEXT NOT NULL, key_hash TEXT NOT NULL UNIQUE,
      created_at BIGINT NOT NULL, last_used_at BIGINT)`,
    `CREATE INDEX gateway_keys_gateway ON gateway_keys (gateway_id)`,
  ],
} as const
