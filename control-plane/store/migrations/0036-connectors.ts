/** Programs beside applications without an open port: how they join, who they are, whom they dial. */
export const connectors = {
  name: '0036-connectors',
  statements: [
    `CREATE TABLE connector_tokens (
      token_id TEXT PRIMARY KEY,
      tenant_id TEXT NOT NULL,
      token_hash TEXT NOT NULL,
      name TEXT NOT NULL,
      uses BIGINT NOT NULL,
      uses_left BIGINT NOT NULL,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL
    )`,
    'CREATE UNIQUE INDEX connector_tokens_hash ON connector_tokens (token_hash)',
    'CREATE INDEX connector_tokens_tenant ON connector_tokens (tenant_id)',
    'CREATE INDEX connector_tokens_expiry ON connector_tokens (expires_at)',
    `CREATE TABLE connectors (
      connector_id TEXT PRIMARY KEY,
      tenant_id TEXT NOT NULL,
      token_id TEXT NOT NULL,
      name TEXT NOT NULL,
      program TEXT NOT NULL,
      joined_at BIGINT NOT NULL,
      seen_at BIGINT NOT NULL
    )`,
    'CREATE INDEX connectors_tenant ON connectors (tenant_id)',
    `CREATE TABLE connector_keys (
      key_id TEXT PRIMARY KEY,
      tenant_id TEXT NOT NULL,
      connector_id TEXT NOT NULL,
      public_key TEXT NOT NULL,
      is_next BIGINT NOT NULL,
      created_at BIGINT NOT NULL
    )`,
    'CREATE INDEX connector_keys_tenant ON connector_keys (tenant_id)',
    'CREATE INDEX connector_keys_connector ON connector_keys (connector_id)',
    `CREATE TABLE gateway_doors (
      gateway_id TEXT PRIMARY KEY,
      address TEXT NOT NULL,
      certificate TEXT NOT NULL,
      seen_at BIGINT NOT NULL
    )`,
    'CREATE INDEX gateway_doors_seen ON gateway_doors (seen_at)',
  ],
} as const
