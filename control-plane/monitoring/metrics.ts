/** What an alert can watch: each metric is a number of things that happened in a span of time. */
import { countOutcomes } from '../store/queries/figures.ts'
import { countFailedDeliveries } from '../store/queries/webhook-failures.ts'
import type { Queries } from '../store/sqlite.ts'
import type { FigureOutcome } from './outcomes.ts'

export const ALERT_METRICS = {
  refused_sign_ins: 'Sign-ins with a wrong password or code, or refused by a policy.',
  step_ups: 'Second factors that were asked for, at sign-in or because a session has moved.',
  sealed_hits: 'Requests for sealed paths, at the edge or in the application.',
  lockouts: 'Accounts and addresses that have failed too often and have to wait.',
  failed_deliveries: 'Webhook deliveries that were given up.',
} as const
export type AlertMetric = keyof typeof ALERT_METRICS
export const ALERT_METRIC_NAMES = Object.keys(ALERT_METRICS) as [AlertMetric, ...AlertMetric[]]

/** From the beginning of a minute up to before the beginning of another. */
export interface Span {
  readonly fromMs: number
  readonly toMs: number
}

type Count = (queries: Queries, tenantId: string, span: Span) => Promise<number>

const ofOutcomes =
  (...outcomes: FigureOutcome[]): Count =>
  (queries, tenantId, { fromMs, toMs }) =>
    countOutcomes(queries, tenantId, outcomes, fromMs, toMs)

const COUNTS: Readonly<Record<AlertMetric, Count>> = {
  refused_sign_ins: ofOutcomes('failed', 'denied'),
  step_ups: ofOutcomes('step_up'),
  sealed_hits: ofOutcomes('sealed'),
  lockouts: ofOutcomes('lockout'),
  failed_deliveries: (queries, tenantId, { fromMs, toMs }) =>
    countFailedDeliveries(queries, tenantId, fromMs, toMs),
}

export function countMetric(
  queries: Queries,
  tenantId: string,
  metric: AlertMetric,
  span: Span,
): Promise<number> {
  return COUNTS[metric](queries, tenantId, span)
}
