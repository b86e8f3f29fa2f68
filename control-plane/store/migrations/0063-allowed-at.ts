/** When a command line tool was allowed a key: what ended the person's sessions since ends that as well. */
export const allowedAt = {
  name: '0063-allowed-at',
  statements: [`ALTER TABLE device_codes ADD COLUMN allowed_at BIGINT`],
} as const
