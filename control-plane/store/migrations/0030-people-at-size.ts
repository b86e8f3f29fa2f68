/** A role that changes nothing; and when each person last signed in, so that lists can be sorted by it. */
export const peopleAtSize = {
  name: '0030-people-at-size',
  statements: [
    `ALTER TABLE console_invitations ADD COLUMN role TEXT NOT NULL DEFAULT 'administrator'`,
    'ALTER TABLE users ADD COLUMN last_sign_in_at BIGINT',
    `UPDATE users SET last_sign_in_at = latest.at FROM
      (SELECT tenant_id, user_id, max(created_at) AS at FROM sessions GROUP BY tenant_id, user_id)
        AS latest
      WHERE latest.tenant_id = users.tenant_id AND latest.user_id = users.user_id`,
    'CREATE INDEX users_last_sign_in ON users (tenant_id, last_sign_in_at, user_id)',
    'CREATE INDEX users_created ON users (tenant_id, created_at, user_id)',
  ],
} as const
