/** Mails go out tenant by tenant, what somebody waits for first, and not when their link is dead. */
export const mailTurns = {
  name: '0022-mail-turns',
  statements: [
    `ALTER TABLE mails ADD COLUMN kind TEXT NOT NULL DEFAULT 'notice'`,
    `ALTER TABLE mails ADD COLUMN expires_at BIGINT`,
    `DROP INDEX mails_next`,
    `CREATE INDEX mails_turn ON mails (tenant_id, kind, next_at)`,
  ],
} as const
