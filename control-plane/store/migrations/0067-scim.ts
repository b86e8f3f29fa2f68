/** People and groups that a provider pushes. */
export const scim = {
  name: '0067-scim',
  statements: [
    `CREATE TABLE scim_tokens (
      token_id TEXT PRIMARY KEY,
      tenant_id TEXT NOT NULL,
      token_hash TEXT NOT NULL,
      name TEXT NOT NULL,
      connection_id TEXT,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      last_used_at BIGINT
    )`,
    `CREATE UNIQUE INDEX scim_tokens_hash ON scim_tokens (token_hash)`,
    `CREATE INDEX scim_tokens_tenant ON scim_tokens (tenant_id)`,
    `CREATE INDEX scim_tokens_expiry ON scim_tokens (expires_at)`,
    `CREATE TABLE scim_people (
      tenant_id TEXT NOT NULL,
      user_id TEXT NOT NULL,
      external_id TEXT,
      user_name TEXT NOT NULL,
      user_name_key TEXT NOT NULL,
      display_name TEXT NOT NULL,
      display_key TEXT NOT NULL,
      details TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL,
      PRIMARY KEY (tenant_id, user_id)
    )`,
    `CREATE UNIQUE INDEX scim_people_user_name ON scim_people (tenant_id, user_name_key)`,
    `CREATE INDEX scim_people_external ON scim_people (tenant_id, external_id)`,
    `CREATE INDEX scim_people_display ON scim_people (tenant_id, display_key)`,
    `CREATE INDEX scim_people_created ON scim_people (tenant_id, created_at, user_id)`,
    `CREATE TABLE scim_groups (
      group_id TEXT PRIMARY KEY,
      tenant_id TEXT NOT NULL,
      group_name TEXT NOT NULL,
      external_id TEXT,
      display_name TEXT NOT NULL,
      display_key TEXT NOT NULL,
      is_joined BIGINT NOT NULL,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL
    )`,
    `CREATE UNIQUE INDEX scim_groups_name ON scim_groups (tenant_id, group_name)`,
    `CREATE UNIQUE INDEX scim_groups_display ON scim_groups (tenant_id, display_key)`,
    `CREATE INDEX scim_groups_created ON scim_groups (tenant_id, created_at, group_id)`,
    `CREATE TABLE scim_requests (
      entry_id TEXT PRIMARY KEY,
      tenant_id TEXT NOT NULL,
      at BIGINT NOT NULL,
      method TEXT NOT NULL,
      path TEXT NOT NULL,
      status BIGINT NOT NULL,
      detail TEXT NOT NULL,
      token_id TEXT NOT NULL,
      request_id TEXT NOT NULL
    )`,
    `CREATE INDEX scim_requests_tenant ON scim_requests (tenant_id, at, entry_id)`,
    `CREATE INDEX scim_requests_at ON scim_requests (at)`,
  ],
} as const
