/** Whose an entry of the audit trail is, and who made it, where ids and addresses are given again. */
export const tenantNumbers = {
  name: '0011-tenant-numbers',
  statements: [
    `ALTER TABLE tenants ADD COLUMN number BIGINT NOT NULL DEFAULT 0`,
    `UPDATE tenants SET number = counted.number FROM (
      SELECT tenant_id, row_number() OVER (ORDER BY created_at, tenant_id) AS number FROM tenants
    ) AS counted WHERE counted.tenant_id = tenants.tenant_id`,
    `INSERT INTO counters SELECT 'tenant', count(*) FROM tenants`,
    `CREATE UNIQUE INDEX tenants_number ON tenants (number)`,
    `ALTER TABLE audit ADD COLUMN tenant_number BIGINT`,
    `ALTER TABLE audit ADD COLUMN actor_id TEXT`,
    // what was written before the tenant was created was about one that had its id before
    `UPDATE audit SET tenant_number = own.number FROM (
      SELECT tenants.tenant_id, tenants.number, coalesce(max(created.sequence), 0) AS since
      FROM tenants LEFT JOIN audit AS created
        ON created.tenant_id = tenants.tenant_id AND created.action = 'tenant.created'
      GROUP BY tenants.tenant_id, tenants.number
    ) AS own WHERE audit.tenant_id = own.tenant_id AND audit.sequence >= own.since`,
    `CREATE INDEX audit_tenant_number ON audit (tenant_number, sequence)`,
  ],
} as const
