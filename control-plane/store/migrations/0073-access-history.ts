/** What rules and memberships have been: who could open a path at a time that is past. */
export const accessHistory = {
  name: '0073-access-history',
  statements: [
    `CREATE TABLE access_rule_versions (
      tenant_id TEXT NOT NULL,
      at BIGINT NOT NULL,
      actor TEXT NOT NULL,
      content TEXT NOT NULL,
      PRIMARY KEY (tenant_id, at)
    )`,
    `CREATE INDEX access_rule_versions_at ON access_rule_versions (at)`,
    `INSERT INTO access_rule_versions (tenant_id, at, actor, content)
      SELECT tenant_id, updated_at, '', content FROM access_rules`,
    `CREATE TABLE past_members (
      tenant_id TEXT NOT NULL,
      group_name TEXT NOT NULL,
      user_id TEXT NOT NULL,
      source TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      ended_at BIGINT NOT NULL,
      PRIMARY KEY (tenant_id, user_id, group_name, source, ended_at)
    )`,
    `CREATE INDEX past_members_ended ON past_members (ended_at)`,
  ],
} as const
