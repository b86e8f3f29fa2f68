/** Pages about people of the console: what the trail says of one, who is invited, forms that wait. */
const statements = [
  `ALTER TABLE audit ADD COLUMN user_id TEXT`,
  `UPDATE audit SET user_id = CASE 'text'
      WHEN json_type(content, '$.user_id') THEN json_extract(content, '$.user_id')
      WHEN json_type(content, '$.subject') THEN json_extract(content, '$.subject') END
      WHERE tenant_id = 'console' OR action LIKE 'console.%'`,
  `CREATE INDEX audit_user ON audit (user_id, sequence)`,
  // an address that has changed since, or may have, was perhaps somebody else's at the time
  `UPDATE audit SET actor_id = (
      SELECT max(users.user_id) FROM users WHERE users.tenant_id = 'console'
        AND audit.actor = 'console:' || users.email AND users.updated_at < audit.at)
      WHERE actor LIKE 'console:%' AND actor_id IS NULL`,
  `CREATE INDEX audit_actor ON audit (actor_id, sequence)`,
  `CREATE TABLE console_kept_forms (
      kept_hash TEXT PRIMARY KEY, user_id TEXT NOT NULL, content_sealed TEXT NOT NULL,
      created_at BIGINT NOT NULL)`,
  `CREATE INDEX console_kept_forms_user ON console_kept_forms (user_id, created_at)`,
  `CREATE INDEX console_kept_forms_age ON console_kept_forms (created_at)`,
  `CREATE TABLE console_invitations (
      invitation_id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, email TEXT NOT NULL,
      email_key TEXT NOT NULL, invited_by TEXT NOT NULL, link_hash TEXT NOT NULL,
      created_at BIGINT NOT NULL, sent_at BIGINT NOT NULL, expires_at BIGINT NOT NULL)`,
  `CREATE UNIQUE INDEX console_invitations_link ON console_invitations (link_hash)`,
  `CREATE UNIQUE INDEX console_invitations_email ON console_invitations (tenant_id, email_key)`,
  `CREATE INDEX console_invitations_person ON console_invitations (email_key)`,
  `CREATE INDEX console_invitations_expiry ON console_invitations (expires_at)`,
]

export const consolePeople = {
  name: '0015-console-people',
  statements,
  // what SQLite alone can read is about entries that no other database has
  postgres: statements.filter((text) => !text.includes('json_type')),
}
