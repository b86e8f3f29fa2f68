/** Hostnames that tenants want, and have not shown to be theirs yet. */
import { primaryKey, table, text, whole } from './columns.ts'

/** Several tenants may want one; whoever shows first that it is theirs has it. */
export const hostnameClaims = table(
  'hostname_claims',
  {
    tenantId: text('tenant_id').notNull(),
    hostname: text('hostname').notNull(),
    /** What has to be found there: random, and of this tenant and this hostname alone. */
    token: text('token').notNull(),
    createdAt: whole('created_at').notNull(),
    dueAt: whole('due_at').notNull(),
    /** Grows with every look: whoever has read another one comes too late to look. */
    looks: whole('looks').notNull().default(0),
    lookedAt: whole('looked_at'),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.hostname] })],
)
