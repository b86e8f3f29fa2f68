/** What the tenant's own application is to hear of, and what all others are: each found without the other. */
export const logoutListeners = {
  name: '0102-logout-listeners',
  statements: [
    `CREATE INDEX logout_notices_own ON logout_notices (tenant_id, next_at) WHERE client_id IS NULL`,
    `CREATE INDEX logout_notices_others ON logout_notices (tenant_id, next_at) WHERE client_id IS NOT NULL`,
  ],
} as const
