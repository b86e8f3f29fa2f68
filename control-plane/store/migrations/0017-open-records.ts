/** Sign-ins that are still open are counted from an index alone, whatever has been consumed. */
export const openRecords = {
  name: '0017-open-records',
  statements: [
    'DROP INDEX realm_records_open',
    `CREATE INDEX realm_records_open
      ON realm_records (tenant_id, model, opened_by, expires_at, id_hash, consumed_at)
      WHERE consumed_at IS NULL AND opened_by IS NOT NULL`,
    `CREATE INDEX realm_records_open_all
      ON realm_records (tenant_id, model, expires_at, id_hash, consumed_at, opened_by)
      WHERE consumed_at IS NULL AND opened_by IS NOT NULL`,
  ],
} as const
