/** The part of the schema that the fleet stands on: which gateways there are. */
import type { Columns } from './columns.ts'

export function defineFleetTables(c: Columns) {
  /** A gateway is known for as long as it has a key; while one replaces another, it has two. */
  const gatewayKeys = c.table(
    'gateway_keys',
    {
      keyId: c.text('key_id').primaryKey(),
      gatewayId: c.text('gateway_id').notNull(),
      keyHash: c.text('key_hash').notNull().unique(),
      createdAt: c.whole('created_at').notNull(),
      /** When a gateway last connected with it; null: none has. */
      lastUsedAt: c.whole('last_used_at'),
    },
    (table) => [c.index('gateway_keys_gateway').on(table.gatewayId)],
  )

  return { gatewayKeys }
}
