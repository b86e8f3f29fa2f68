/** Who opened a sign-in, so that nobody fills the table; refusals that are counted on one row. */
export const strangers = {
  name: '0014-strangers',
  statements: [
    'ALTER TABLE realm_records ADD COLUMN opened_by TEXT',
    'CREATE INDEX realm_records_open ON realm_records (tenant_id, model, opened_by, expires_at)',
    'ALTER TABLE sign_ins ADD COLUMN repeated BIGINT NOT NULL DEFAULT 0',
  ],
} as const
