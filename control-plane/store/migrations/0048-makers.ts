/** Who has made what machines come in with: it ends with what they may do themselves. */
export const makers = {
  name: '0048-makers',
  statements: [
    `ALTER TABLE connector_tokens ADD COLUMN made_by TEXT NOT NULL DEFAULT ''`,
    `ALTER TABLE device_tickets ADD COLUMN made_by TEXT NOT NULL DEFAULT ''`,
  ],
} as const
