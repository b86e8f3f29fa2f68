/** Addresses of nobody who administers the tenant, that get alerts by email once they have agreed. */
export const alertRecipients = {
  name: '0035-alert-recipients',
  statements: [
    "ALTER TABLE alerts ADD COLUMN email_recipients TEXT NOT NULL DEFAULT '[]'",
    `CREATE TABLE alert_recipients (
      tenant_id TEXT NOT NULL,
      email TEXT NOT NULL,
      language TEXT NOT NULL,
      token TEXT NOT NULL,
      asked_at BIGINT NOT NULL,
      confirmed_at BIGINT,
      PRIMARY KEY (tenant_id, email)
    )`,
    'CREATE UNIQUE INDEX alert_recipients_token ON alert_recipients (token)',
  ],
} as const
