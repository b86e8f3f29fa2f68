/** Links of mails from before migration 0038 end nothing any more: no version that was released sent one. */
export const oneKindOfStopLink = {
  name: '0044-one-kind-of-stop-link',
  statements: [
    'DROP INDEX alert_recipients_earlier',
    'ALTER TABLE alert_recipients DROP COLUMN earlier_token',
  ],
} as const
