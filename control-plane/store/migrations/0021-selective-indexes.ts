/**
 * What a sign-in asks for is found by all that it names. SQLite keeps no statistics here: between
 * two indexes it takes the one of which more columns are asked for, however little they tell apart.
 */
export const selectiveIndexes = {
  name: '0021-selective-indexes',
  statements: [
    'DROP INDEX sign_ins_login',
    `CREATE INDEX sign_ins_login
      ON sign_ins (tenant_id, login_hash, is_known_device, is_failure, at)`,
    'DROP INDEX sign_ins_address',
    'CREATE INDEX sign_ins_address ON sign_ins (tenant_id, counted_as, is_failure, at)',
    'DROP INDEX sign_ins_user',
    'CREATE INDEX sign_ins_user ON sign_ins (tenant_id, user_id, outcome, at)',
    'DROP INDEX sessions_user',
    'CREATE INDEX sessions_user ON sessions (tenant_id, user_id, created_at)',
    'DROP INDEX known_devices_token',
    `CREATE INDEX known_devices_token ON known_devices (tenant_id, cookie_hash, user_id)`,
    'CREATE INDEX figure_batches_age ON figure_batches (taken_at)',
    `ALTER TABLE revocations ADD COLUMN kept_until BIGINT NOT NULL DEFAULT 0`,
    // which sessions these have ended is not known any more: as long as the tenant's last one
    `UPDATE revocations SET kept_until = ofTenant.until FROM
      (SELECT tenant_id, max(expires_at) AS until FROM sessions GROUP BY tenant_id) AS ofTenant
      WHERE ofTenant.tenant_id = revocations.tenant_id`,
    'CREATE INDEX revocations_kept ON revocations (kept_until)',
  ],
} as const
