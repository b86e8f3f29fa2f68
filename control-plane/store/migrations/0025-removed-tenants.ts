/** A tenant is gone at once; that something of it is left to be deleted, its tombstone says. */
export const removedTenants = {
  name: '0025-removed-tenants',
  statements: [
    'ALTER TABLE tenant_tombstones ADD COLUMN is_left_behind BIGINT NOT NULL DEFAULT 0',
    'CREATE INDEX tenant_tombstones_left ON tenant_tombstones (is_left_behind, tenant_id)',
  ],
} as const
