/**
 * What people are, for rules that ask. What providers have pushed until now is taken over: they send it
 * once, and not again.
 */
const PUSHED = [
  ['title', 'title'],
  ['department', 'department'],
  ['employee_number', 'employeeNumber'],
] as const

const tables = [
  `CREATE TABLE person_attributes (
    tenant_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    source TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, user_id, name, value, source)
  )`,
  `CREATE INDEX person_attributes_source ON person_attributes (tenant_id, source, name, user_id)`,
  `CREATE TABLE past_attributes (
    tenant_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    source TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    ended_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, user_id, name, value, source, ended_at)
  )`,
  `CREATE INDEX past_attributes_ended ON past_attributes (ended_at)`,
  `ALTER TABLE connections ADD COLUMN attributes TEXT NOT NULL DEFAULT '[]'`,
]

const takeOver = (detail: (key: string) => string) =>
  PUSHED.map(
    ([name, key]) => `INSERT INTO person_attributes
      SELECT tenant_id, user_id, '${name}', trim(${detail(key)}), 'scim', updated_at
      FROM scim_people WHERE ${detail(key)} IS NOT NULL`,
  )

export const personAttributes = {
  name: '0084-person-attributes',
  statements: [...tables, ...takeOver((key) => `json_extract(details, '$.${key}')`)],
  postgres: [...tables, ...takeOver((key) => `(details::json ->> '${key}')`)],
} as const
