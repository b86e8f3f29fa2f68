/**
 * A role that changes nothing; when each person last signed in, so that lists can be sorted by it,
 * and who needs a second factor whatever the policy says.
 */
export const peopleAtSize = {
  name: '0030-people-at-size',
  statements: [
    `ALTER TABLE console_invitations ADD COLUMN role TEXT NOT NULL DEFAULT 'administrator'`,
    // 0: never
    'ALTER TABLE users ADD COLUMN last_sign_in_at BIGINT NOT NULL DEFAULT 0',
    'ALTER TABLE users ADD COLUMN is_factor_required INTEGER NOT NULL DEFAULT 0',
    `UPDATE users SET last_sign_in_at = latest.at FROM
      (SELECT tenant_id, user_id, max(created_at) AS at FROM sessions GROUP BY tenant_id, user_id)
        AS latest
      WHERE latest.tenant_id = users.tenant_id AND latest.user_id = users.user_id`,
    'CREATE INDEX users_last_sign_in ON users (tenant_id, last_sign_in_at, user_id)',
    'CREATE INDEX users_created ON users (tenant_id, created_at, user_id)',
  ],
} as const
