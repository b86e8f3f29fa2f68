/** The part of the schema that the enforcement feed stands on. */
import type { Columns } from './columns.ts'

export function defineFeedTables(c: Columns) {
  /** Who polls the feed. Kept in memory and written now and then, so that a restart knows them. */
  const feedInstances = c.table(
    'feed_instances',
    {
      tenantId: c.text('tenant_id').notNull(),
      /** As it calls itself; all that do not are one, with an empty name. */
      name: c.text('name').notNull(),
      version: c.text('version').notNull(),
      /** Of the state that it has. */
      etag: c.text('etag').notNull(),
      /** Its clock minus ours, as it measured; null when it has not said. */
      clockOffsetMs: c.whole('clock_offset_ms'),
      lastPollAt: c.whole('last_poll_at').notNull(),
    },
    (table) => [
      c.primaryKey({ columns: [table.tenantId, table.name] }),
      c.index('feed_instances_poll').on(table.lastPollAt),
    ],
  )

  /** What gateways and middlewares enforced. `sequence` counts per tenant, in order of arrival. */
  const enforcementEvents = c.table(
    'enforcement_events',
    {
      tenantId: c.text('tenant_id').notNull(),
      sequence: c.whole('sequence').notNull(),
      /** When it arrived: whoever enforces may have a wrong clock. */
      at: c.whole('at').notNull(),
      outcome: c.text('outcome').notNull(),
      subject: c.text('subject'),
      sid: c.text('sid'),
      reason: c.text('reason'),
      ip: c.text('ip'),
      appHost: c.text('app_host'),
      /** The gateway's id, or the name of the instance. */
      instance: c.text('instance').notNull(),
    },
    (table) => [
      c.primaryKey({ columns: [table.tenantId, table.sequence] }),
      c.index('enforcement_events_tenant').on(table.tenantId, table.at),
      c.index('enforcement_events_at').on(table.at),
      c.index('enforcement_events_outcome').on(table.tenantId, table.outcome, table.sequence),
      c.index('enforcement_events_subject').on(table.tenantId, table.subject, table.sequence),
      c.index('enforcement_events_ip').on(table.tenantId, table.ip, table.sequence),
    ],
  )

  return { feedInstances, enforcementEvents }
}
