/** The part of the schema that monitoring stands on: figures, alerts, digests. */
import type {
  FigureOutcome,
  FigureSource,
  FigureStep,
  KeptStep,
  AlertMetric,
} from './monitoring-names.ts'
import type { Columns } from './columns.ts'

export function defineMonitoringTables(c: Columns) {
  /**
   * How often something was decided, per minute, hour and day (UTC). A count is added to its minute
   * and its hour; minutes are forgotten after a day (where a week may end, their
   * quarters of an hour stay), hours become days after two weeks.
   */
  const figures = c.table(
    'figures',
    {
      tenantId: c.text('tenant_id').notNull(),
      step: c.text('step').$type<KeptStep>().notNull(),
      /** When the minute, hour or day begins. */
      at: c.whole('at').notNull(),
      source: c.text('source').$type<FigureSource>().notNull(),
      outcome: c.text('outcome').$type<FigureOutcome>().notNull(),
      reason: c.text('reason').notNull(),
      count: c.whole('count').notNull(),
    },
    (table) => [
      c.primaryKey({
        columns: [table.tenantId, table.step, table.at, table.source, table.outcome, table.reason],
      }),
      c.index('figures_age').on(table.step, table.at),
    ],
  )

  /** The same for all tenants together. A count is added to its minute, its hour and its day. */
  const serviceFigures = c.table(
    'service_figures',
    {
      step: c.text('step').$type<FigureStep>().notNull(),
      at: c.whole('at').notNull(),
      source: c.text('source').$type<FigureSource>().notNull(),
      outcome: c.text('outcome').$type<FigureOutcome>().notNull(),
      reason: c.text('reason').notNull(),
      count: c.whole('count').notNull(),
    },
    (table) => [
      c.primaryKey({
        columns: [table.step, table.at, table.source, table.outcome, table.reason],
      }),
    ],
  )

  /** How often a tenant's requests and sign-ins were refused in an hour and a day: who has most. */
  const tenantRefusals = c.table(
    'tenant_refusals',
    {
      tenantId: c.text('tenant_id').notNull(),
      step: c.text('step').$type<'hour' | 'day'>().notNull(),
      at: c.whole('at').notNull(),
      count: c.whole('count').notNull(),
    },
    (table) => [
      c.primaryKey({ columns: [table.tenantId, table.step, table.at] }),
      c.index('tenant_refusals_most').on(table.step, table.at, table.count),
    ],
  )

  /** The last batch of counts that was taken from each gateway: one that comes again is not added. */
  const figureBatches = c.table(
    'figure_batches',
    {
      gatewayId: c.text('gateway_id').primaryKey(),
      /** Random: of one count of batches, which goes up from 1. */
      run: c.text('run').notNull(),
      batch: c.whole('batch').notNull(),
      takenAt: c.whole('taken_at').notNull(),
    },
    (table) => [c.index('figure_batches_age').on(table.takenAt)],
  )

  const alerts = c.table(
    'alerts',
    {
      alertId: c.text('alert_id').primaryKey(),
      tenantId: c.text('tenant_id').notNull(),
      metric: c.text('metric').$type<AlertMetric>().notNull(),
      threshold: c.whole('threshold').notNull(),
      windowSeconds: c.whole('window_seconds').notNull(),
      coolDownSeconds: c.whole('cool_down_seconds').notNull(),
      isEnabled: c.flag('is_enabled').notNull(),
      createdAt: c.whole('created_at').notNull(),
      updatedAt: c.whole('updated_at').notNull(),
      /** Has been told of, and has not fallen below since. */
      isAbove: c.flag('is_above').notNull(),
      triggeredAt: c.whole('triggered_at'),
    },
    (table) => [c.index('alerts_tenant').on(table.tenantId, table.alertId)],
  )

  /** The weeks that a tenant has had its digest of, by the date of the Monday that ends them. */
  const digests = c.table(
    'digests',
    {
      tenantId: c.text('tenant_id').notNull(),
      week: c.text('week').notNull(),
      /** Up to when things are counted in it; the next one goes on from here. */
      until: c.whole('until').notNull(),
      /** What was counted in the hour of `until` before it, which the next one must not count. */
      edge: c
        .json('edge')
        .$type<[source: string, outcome: string, reason: string, n: number][]>()
        .notNull(),
    },
    (table) => [
      c.primaryKey({ columns: [table.tenantId, table.week] }),
      c.index('digests_until').on(table.until),
    ],
  )

  return { figures, serviceFigures, tenantRefusals, figureBatches, alerts, digests }
}
