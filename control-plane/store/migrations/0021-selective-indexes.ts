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
  ],
} as const
