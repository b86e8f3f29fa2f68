/** Alerts that a tenant's administrators get by email as well. */
export const alertMails = {
  name: '0033-alert-mails',
  statements: [
    'ALTER TABLE alerts ADD COLUMN email_language TEXT',
    'ALTER TABLE alerts ADD COLUMN emailed_at BIGINT',
  ],
} as const
