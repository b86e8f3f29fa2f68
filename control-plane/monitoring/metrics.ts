/** What an alert can watch: each metric is a number of things that happened in a span of time. */
import { countOutcomes, minutesOfOutcomes } from '../store/queries/figures.ts'
import {
  countFailedDeliveries,
  minutesOfFailedDeliveries,
} from '../store/queries/webhook-failures.ts'
import type { Queries } from '../store/engine.ts'
import type { AlertMetric, FigureOutcome } from '../store/monitoring-names.ts'

/** From the beginning of a minute up to before the beginning of another. */
export interface Span {
  readonly fromMs: number
  readonly toMs: number
}

/** How often in a minute; a minute without any is not among them. */
export interface MinuteCount {
  readonly at: number
  readonly count: number
}

interface Metric {
  count(queries: Queries, tenantId: string, span: Span): Promise<number>
  minutes(queries: Queries, tenantId: string, span: Span): Promise<MinuteCount[]>
}

const ofFigures = (outcomes: readonly FigureOutcome[], reason?: string): Metric => ({
  count: (queries, tenantId, { fromMs, toMs }) =>
    countOutcomes(queries, tenantId, { outcomes, reason }, fromMs, toMs),
  minutes: (queries, tenantId, { fromMs, toMs }) =>
    minutesOfOutcomes(queries, tenantId, { outcomes, reason }, fromMs, toMs),
})

const METRICS: Readonly<Record<AlertMetric, Metric>> = {
  refused_sign_ins: ofFigures(['failed', 'denied']),
  step_ups: ofFigures(['step_up']),
  sealed_hits: ofFigures(['sealed']),
  lockouts: ofFigures(['lockout']),
  device_other_browser: ofFigures(['denied'], 'device_other_browser'),
  device_break_glass: ofFigures(['signed_in'], 'device_break_glass'),
  failed_deliveries: {
    count: (queries, tenantId, { fromMs, toMs }) =>
      countFailedDeliveries(queries, tenantId, fromMs, toMs),
    minutes: (queries, tenantId, { fromMs, toMs }) =>
      minutesOfFailedDeliveries(queries, tenantId, fromMs, toMs),
  },
}

export function countMetric(
  queries: Queries,
  tenantId: string,
  metric: AlertMetric,
  span: Span,
): Promise<number> {
  return METRICS[metric].count(queries, tenantId, span)
}

/** In the order of time. */
export function minutesOfMetric(
  queries: Queries,
  tenantId: string,
  metric: AlertMetric,
  span: Span,
): Promise<MinuteCount[]> {
  return METRICS[metric].minutes(queries, tenantId, span)
}
