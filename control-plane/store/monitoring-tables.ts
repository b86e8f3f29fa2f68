/** The part of the schema that monitoring stands on: figures, alerts, digests. */
import type {
  FigureOutcome,
  FigureSource,
  FigureStep,
  KeptStep,
  AlertMetric,
} from './monitoring-names.ts'
import { table, text, whole, json, flag, primaryKey, uniqueIndex } from './columns.ts'

/**
 * How often something was decided, per minute, hour and day (UTC). A count is added to its minute
 * and its hour; minutes are forgotten after a day (where a week may end, their
 * quarters of an hour stay), hours become days after two weeks.
 */
export const figures = table(
  'figures',
  {
    tenantId: text('tenant_id').notNull(),
    step: text('step').$type<KeptStep>().notNull(),
    /** When the minute, hour or day begins. */
    at: whole('at').notNull(),
    source: text('source').$type<FigureSource>().notNull(),
    outcome: text('outcome').$type<FigureOutcome>().notNull(),
    reason: text('reason').notNull(),
    count: whole('count').notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.tenantId, table.step, table.at, table.source, table.outcome, table.reason],
    }),
  ],
)

/** The same for all tenants together, with days, and up to a minute later. */
export const serviceFigures = table(
  'service_figures',
  {
    step: text('step').$type<FigureStep>().notNull(),
    at: whole('at').notNull(),
    source: text('source').$type<FigureSource>().notNull(),
    outcome: text('outcome').$type<FigureOutcome>().notNull(),
    reason: text('reason').notNull(),
    count: whole('count').notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.step, table.at, table.source, table.outcome, table.reason],
    }),
  ],
)

/**
 * What changes of one tenant have counted in a minute, until it is added to those of all together:
 * on rows of all, changes of tenants would wait for each other.
 */
export const figureAdditions = table(
  'figure_additions',
  {
    tenantId: text('tenant_id').notNull(),
    at: whole('at').notNull(),
    source: text('source').$type<FigureSource>().notNull(),
    outcome: text('outcome').$type<FigureOutcome>().notNull(),
    reason: text('reason').notNull(),
    count: whole('count').notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.tenantId, table.at, table.source, table.outcome, table.reason],
    }),
  ],
)

/** How often a tenant's requests and sign-ins were refused in an hour and a day: who has most. */
export const tenantRefusals = table(
  'tenant_refusals',
  {
    tenantId: text('tenant_id').notNull(),
    step: text('step').$type<'hour' | 'day'>().notNull(),
    at: whole('at').notNull(),
    count: whole('count').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.step, table.at] })],
)

/** The last batch of counts that was taken from each gateway: one that comes again is not added. */
export const figureBatches = table('figure_batches', {
  gatewayId: text('gateway_id').primaryKey(),
  /** Random: of one count of batches, which goes up from 1. */
  run: text('run').notNull(),
  batch: whole('batch').notNull(),
  takenAt: whole('taken_at').notNull(),
})

export const alerts = table('alerts', {
  alertId: text('alert_id').primaryKey(),
  tenantId: text('tenant_id').notNull(),
  metric: text('metric').$type<AlertMetric>().notNull(),
  threshold: whole('threshold').notNull(),
  windowSeconds: whole('window_seconds').notNull(),
  coolDownSeconds: whole('cool_down_seconds').notNull(),
  isEnabled: flag('is_enabled').notNull(),
  createdAt: whole('created_at').notNull(),
  updatedAt: whole('updated_at').notNull(),
  /** Has been told of, and has not fallen below since. */
  isAbove: flag('is_above').notNull(),
  triggeredAt: whole('triggered_at'),
  /** In which the tenant's administrators are written to; null: they are not. */
  emailLanguage: text('email_language').$type<'en' | 'de'>(),
  emailedAt: whole('emailed_at'),
  /** Addresses besides, of which only those that have agreed are written to. */
  emailRecipients: json('email_recipients').$type<readonly string[]>().notNull(),
})

export const alertRecipients = table(
  'alert_recipients',
  {
    tenantId: text('tenant_id').notNull(),
    email: text('email').notNull(),
    language: text('language').$type<'en' | 'de'>().notNull(),
    askedAt: whole('asked_at').notNull(),
    confirmedAt: whole('confirmed_at'),
    /** Of the link in the mail that asks; null: it has been used. */
    confirmHash: text('confirm_hash'),
    /** Said no. */
    stoppedAt: whole('stopped_at'),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.email] }),
    uniqueIndex('alert_recipients_confirm').on(table.confirmHash),
  ],
)

/** The weeks that a tenant has had its digest of, by the date of the Monday that ends them. */
export const digests = table(
  'digests',
  {
    tenantId: text('tenant_id').notNull(),
    week: text('week').notNull(),
    /** Up to when things are counted in it; the next one goes on from here. */
    until: whole('until').notNull(),
    /** What was counted in the hour of `until` before it, which the next one must not count. */
    edge: json('edge')
      .$type<[source: string, outcome: string, reason: string, n: number][]>()
      .notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.week] })],
)
