/** In which session somebody was invited, or a tool was allowed a key: it ends with one that is taken away. */
export const madeInSession = {
  name: '0070-made-in-session',
  statements: [
    `ALTER TABLE console_invitations ADD COLUMN invited_in TEXT`,
    `ALTER TABLE device_codes ADD COLUMN allowed_in TEXT`,
  ],
} as const
