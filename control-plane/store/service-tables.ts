/** Machines: services with credentials of their own, by which they are known to gateways. */
import { flag, primaryKey, table, text, whole } from './columns.ts'

export const services = table('services', {
  serviceId: text('service_id').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  name: text('name').notNull(),
  isDisabled: flag('is_disabled').notNull(),
  createdAt: whole('created_at').notNull(),
  /** From when the token is that names it to applications; renewed daily. */
  identityAt: whole('identity_at').notNull(),
  /** As gateways and middlewares say, to within some minutes; null: never. */
  seenAt: whole('seen_at'),
  seenIp: text('seen_ip'),
})

/** Never more than two of a service. */
export const serviceSecrets = table('service_secrets', {
  secretId: text('secret_id').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  serviceId: text('service_id').notNull(),
  /** SHA-256 of 256 random bits. */
  secretHash: text('secret_hash').notNull(),
  createdAt: whole('created_at').notNull(),
  endsAt: whole('ends_at').notNull(),
  /** As gateways say, to within some minutes. */
  usedAt: whole('used_at'),
})

/** How many requests of each were let in, by the hour: of the last two days. */
export const serviceUses = table(
  'service_uses',
  {
    tenantId: text('tenant_id').notNull(),
    serviceId: text('service_id').notNull(),
    hourAt: whole('hour_at').notNull(),
    count: whole('count').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.serviceId, table.hourAt] })],
)
