/** What a webhook was not sent nor kept for, and by which revision a tenant began. */
export const leftBehind = {
  name: '0016-left-behind',
  statements: [
    `ALTER TABLE webhooks ADD COLUMN dropped_count BIGINT NOT NULL DEFAULT 0`,
    `ALTER TABLE webhooks ADD COLUMN dropped_since BIGINT`,
    `ALTER TABLE tenants ADD COLUMN created_revision BIGINT NOT NULL DEFAULT 0`,
  ],
} as const
