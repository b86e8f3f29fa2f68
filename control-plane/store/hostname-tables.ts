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

/** What a hostname was proven by; of one that a file has proven, or that an operator added, there is none. */
export const hostnameProofs = table('hostname_proofs', {
  hostname: text('hostname').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  token: text('token').notNull(),
  /** Grows with each change: a look that comes late changes nothing. */
  turn: whole('turn').notNull().default(0),
  dueAt: whole('due_at').notNull(),
  lookedAt: whole('looked_at'),
  /** Since when the record is gone; null: it was there at the last look. */
  missingSince: whole('missing_since'),
  misses: whole('misses').notNull().default(0),
})
