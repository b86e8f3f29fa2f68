/**
 * How often was what decided, per tenant and hour: fed by sign-ins (accounts/attempts.ts), by what
 * middlewares report (events/enforcement.ts) and by the counts of gateways; read as series.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, type Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { DecisionFigures } from '../../shared/fleet/snapshot.ts'
import { deleteFigureBatchesBefore, takeFigureBatch } from '../store/queries/figure-batches.ts'
import {
  addFigures,
  beginOf,
  deleteFiguresBefore,
  figuresWithin,
  rollUp,
} from '../store/queries/figures.ts'
import {
  deleteRefusalsBefore,
  deleteServiceFiguresBefore,
  mostRefused,
  serviceFiguresWithin,
  takeAdditions,
  type RefusedTenant,
} from '../store/queries/service-figures.ts'
import { tenantsCreatedAt } from '../store/queries/tenants.ts'
import type { Store } from '../store/store.ts'
import { ofEdge } from './outcomes.ts'
import type { Figure } from '../store/monitoring-names.ts'
import { openSeries, type Series, type SeriesSpan } from './series.ts'
import { mayHoldEndOfWeek } from './weeks.ts'

const SERVICE_FIGURES_KEPT = [
  ['minute', LIMITS.figureMinutesKeptMs],
  ['hour', LIMITS.figureHoursKeptMs],
  ['day', LIMITS.figureDaysKeptMs],
] as const

export function createFigures({ store, clock }: { store: Store; clock: Clock }) {
  /** Whole days, so that no day is begun twice. */
  const hoursKeptFrom = () => beginOf('day', clock.nowMs() - LIMITS.figureHoursKeptMs)

  return {
    /**
     * What a gateway has counted. It sends a batch until it hears that it was taken, over as many
     * connections and starts of its own as that takes; one that was taken is not added again.
     */
    async receive(gatewayId: string, report: DecisionFigures): Promise<void> {
      const { run, batch, age_seconds: ageSeconds, counts } = report
      await store.change(async ({ queries, nowMs }) => {
        if (!(await takeFigureBatch(queries, { gatewayId, run, batch, takenAt: nowMs }))) return
        const ageMs = Math.min(ageSeconds * SECOND_MS, LIMITS.figureHoursKeptMs)
        const byTenant = Map.groupBy(counts, ([tenantId]) => tenantId)
        const known = await tenantsCreatedAt(queries, [...byTenant.keys()])
        const atMs = nowMs - ageMs
        const figures = new Map<string, readonly Figure[]>()
        for (const [tenantId, own] of byTenant)
          // a batch spans a minute; an older one is of a tenant that had this id before
          if (atMs + MINUTE_MS >= (known.get(tenantId) ?? Infinity))
            figures.set(tenantId, edgeFigures(own))
        await addFigures(queries, 'edge', atMs, figures)
      })
    },

    /** Days hold the hours that have not become part of their day yet, too. */
    async series(tenantId: string, span: SeriesSpan): Promise<Series> {
      const { fromMs, toMs, step } = span
      const kept = step === 'day' ? (['day', 'hour'] as const) : [step]
      const series = openSeries(span)
      for (const one of kept)
        for await (const rows of figuresWithin(store.read, tenantId, one, fromMs, toMs))
          series.add(rows)
      return series.whole()
    },

    /** Of all tenants together. */
    async seriesOfAll(span: SeriesSpan): Promise<Series> {
      const { fromMs, toMs, step } = span
      const series = openSeries(span)
      series.add(await serviceFiguresWithin(store.read, step, fromMs, toMs))
      return series.whole()
    },

    /** Who was refused most in the hour, or in the day (UTC), that is under way. */
    async mostRefused(step: 'hour' | 'day', limit: number): Promise<readonly RefusedTenant[]> {
      return mostRefused(store.read, step, beginOf(step, clock.nowMs()), limit)
    },

    /**
     * Minutes go after a day, hours become days after two weeks, and days go after a year. Of the
     * minutes around the ends of weeks, quarters of an hour stay as long as hours.
     */
    async prune(limit: number): Promise<number> {
      const nowMs = clock.nowMs()
      const minutesKeptFrom = nowMs - LIMITS.figureMinutesKeptMs
      const works = [
        (queries: Store['read']) => takeAdditions(queries, limit),
        ...SERVICE_FIGURES_KEPT.map(
          ([step, keptMs]) =>
            (queries: Store['read']) =>
              deleteServiceFiguresBefore(queries, step, nowMs - keptMs, limit),
        ),
        (queries: Store['read']) =>
          rollUp(queries, ['minute', 'quarter'], minutesKeptFrom, limit, mayHoldEndOfWeek),
        (queries: Store['read']) => deleteFiguresBefore(queries, 'quarter', hoursKeptFrom(), limit),
        (queries: Store['read']) => rollUp(queries, ['hour', 'day'], hoursKeptFrom(), limit),
        (queries: Store['read']) =>
          deleteFiguresBefore(queries, 'day', nowMs - LIMITS.figureDaysKeptMs, limit),
        (queries: Store['read']) =>
          deleteFigureBatchesBefore(queries, nowMs - LIMITS.figureBatchKeptMs, limit),
        (queries: Store['read']) =>
          deleteRefusalsBefore(queries, 'hour', beginOf('hour', nowMs - HOUR_MS), limit),
        (queries: Store['read']) =>
          deleteRefusalsBefore(queries, 'day', beginOf('day', nowMs - DAY_MS), limit),
      ]
      const done = []
      for (const work of works) done.push(await store.change(({ queries }) => work(queries)))
      return Math.max(...done)
    },
  }
}

function edgeFigures(counts: DecisionFigures['counts']): readonly Figure[] {
  const figures = new Map<string, Figure>()
  for (const [, decision, reason, count] of counts) {
    const counted = ofEdge(decision, reason)
    if (counted === undefined) continue
    const key = `${counted.outcome} ${counted.reason}`
    figures.set(key, { ...counted, count: count + (figures.get(key)?.count ?? 0) })
  }
  return [...figures.values()]
}
