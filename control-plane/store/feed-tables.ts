/** The part of the schema that the enforcement feed stands on. */
import { table, text, whole, primaryKey } from './columns.ts'

/** Who polls the feed. Kept in memory and written now and then, so that a restart knows them. */
export const feedInstances = table(
  'feed_instances',
  {
    tenantId: text('tenant_id').notNull(),
    /** As it calls itself; all that do not are one, with an empty name. */
    name: text('name').notNull(),
    version: text('version').notNull(),
    /** Of the state that it has. */
    etag: text('etag').notNull(),
    /** Its clock minus ours, as it measured; null when it has not said. */
    clockOffsetMs: whole('clock_offset_ms'),
    lastPollAt: whole('last_poll_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.name] })],
)

/** What gateways and middlewares enforced. `sequence` counts per tenant, in order of arrival. */
export const enforcementEvents = table(
  'enforcement_events',
  {
    tenantId: text('tenant_id').notNull(),
    sequence: whole('sequence').notNull(),
    /** When it arrived: whoever enforces may have a wrong clock. */
    at: whole('at').notNull(),
    outcome: text('outcome').notNull(),
    subject: text('subject'),
    sid: text('sid'),
    reason: text('reason'),
    ip: text('ip'),
    appHost: text('app_host'),
    /** The gateway's id, or the name of the instance. */
    instance: text('instance').notNull(),
    /** Of a refused request, without its query. */
    path: text('path'),
    /** How many that were alike it stands for. */
    count: whole('count').notNull().default(1),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.sequence] })],
)
