/**
 * Agreeing to alerts by email and ending them go by links of their own, and a no is remembered. Who
 * had agreed still has; the links of mails from before end alerts, and confirm nothing any more.
 */
export const alertConsent = {
  name: '0038-alert-consent',
  statements: [
    'DROP INDEX alert_recipients_token',
    'ALTER TABLE alert_recipients ADD COLUMN confirm_hash TEXT',
    'ALTER TABLE alert_recipients ADD COLUMN stopped_at BIGINT',
    'ALTER TABLE alert_recipients ADD COLUMN earlier_token TEXT',
    'UPDATE alert_recipients SET earlier_token = token WHERE confirmed_at IS NOT NULL',
    'ALTER TABLE alert_recipients DROP COLUMN token',
    // the change that ended them wrote this time into both
    `UPDATE alert_recipients SET stopped_at = asked_at WHERE confirmed_at IS NULL AND EXISTS (
      SELECT 1 FROM audit WHERE audit.at = alert_recipients.asked_at
        AND audit.action = 'alert_recipient.stopped' AND audit.actor = alert_recipients.email
        AND audit.tenant_id = alert_recipients.tenant_id
    )`,
    // whose link has died unanswered may be asked again at once
    'UPDATE alert_recipients SET asked_at = 0 WHERE confirmed_at IS NULL AND stopped_at IS NULL',
    'CREATE UNIQUE INDEX alert_recipients_confirm ON alert_recipients (confirm_hash)',
    'CREATE UNIQUE INDEX alert_recipients_earlier ON alert_recipients (earlier_token)',
  ],
} as const
