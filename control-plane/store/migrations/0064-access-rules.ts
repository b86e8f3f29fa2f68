/** Groups, their members, and rules on paths. Tenants that are there have none. */
export const accessRules = {
  name: '0064-access-rules',
  statements: [
    `CREATE TABLE access_rules (
      tenant_id TEXT PRIMARY KEY,
      content TEXT NOT NULL,
      slots TEXT NOT NULL,
      slots_version BIGINT NOT NULL,
      updated_at BIGINT NOT NULL
    )`,
    `CREATE TABLE access_groups (
      tenant_id TEXT NOT NULL,
      name TEXT NOT NULL,
      description TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (tenant_id, name)
    )`,
    `CREATE TABLE group_members (
      tenant_id TEXT NOT NULL,
      group_name TEXT NOT NULL,
      user_id TEXT NOT NULL,
      source TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (tenant_id, group_name, user_id, source)
    )`,
    `CREATE INDEX group_members_person ON group_members (tenant_id, user_id)`,
  ],
} as const
