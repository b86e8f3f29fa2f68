/** What is due is found by its time: whatever else waits is no work for whoever asks. */
export const dueMails = {
  name: '0023-due-mails',
  statements: ['CREATE INDEX mails_due ON mails (next_at, tenant_id)'],
} as const
