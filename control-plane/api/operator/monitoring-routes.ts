/** What the policies decided, as figures to draw; and the alerts that watch them. */
import * as v from 'valibot'
import { Refusal } from '../../../shared/errors.ts'
import { LIMITS } from '../../../shared/limits.ts'
import type { Alert as AlertRow } from '../../monitoring/alerts.ts'
import {
  FIGURE_OUTCOMES,
  FIGURE_SOURCES,
  ALERT_METRIC_NAMES,
  ALERT_METRICS,
} from '../../store/monitoring-names.ts'
import { wholeSteps } from '../../monitoring/series.ts'
import { STEP_MS } from '../../store/queries/figures.ts'
import { count, described, time } from '../../requests/described.ts'
import { endpointsOf, json, nothing, type Endpoint } from '../endpoint.ts'
import { PAGE_QUERY, pageOf } from '../../requests/paging.ts'
import { AlertPatchBody, NewAlertBody, SPAN_QUERY } from '../../requests/monitoring-fields.ts'
import { fromOutside, iso, viewOf } from '../../requests/field-names.ts'
import type { ApiWorld } from '../world.ts'

const outcomes = Object.keys(FIGURE_OUTCOMES) as (keyof typeof FIGURE_OUTCOMES)[]
const listed = (texts: Readonly<Record<string, string>>) =>
  Object.entries(texts)
    .map(([name, text]) => `\`${name}\`: ${text}`)
    .join(' ')

const FiguresAnswer = v.strictObject({
  step: v.picklist(['hour', 'day']),
  from: time,
  to: time,
  times: described(v.array(time), 'The start of each hour or day (UTC).'),
  series: v.array(
    v.strictObject({
      source: described(
        v.picklist(FIGURE_SOURCES),
        'Where it was decided: at a gateway, in the middleware, or on the sign-in pages.',
      ),
      outcome: described(v.picklist(outcomes), listed(FIGURE_OUTCOMES)),
      reason: described(v.string(), 'Empty if the outcome needs no reason.'),
      total: count,
      counts: described(v.array(count), 'One per entry of `times`.'),
    }),
  ),
})

const Alert = v.strictObject({
  alert_id: v.string(),
  metric: described(v.picklist(ALERT_METRIC_NAMES), listed(ALERT_METRICS)),
  threshold: count,
  window_seconds: count,
  cool_down_seconds: count,
  is_enabled: v.boolean(),
  email_language: described(
    v.nullable(v.picklist(['en', 'de'])),
    'The language of emails to the administrators of the tenant; null: none are sent.',
  ),
  email_recipients: described(
    v.array(v.string()),
    'Who gets the same emails besides, once the address is confirmed by a link that is mailed to it.',
  ),
  email_recipients_waiting: described(v.array(v.string()), 'Those that are not confirmed yet.'),
  is_above: described(
    v.boolean(),
    'Whether it has triggered and not fallen below the threshold since.',
  ),
  triggered_at: described(v.nullable(time), 'When it last triggered.'),
  created_at: time,
  updated_at: time,
})

const alertView = viewOf(Alert)

const operator = endpointsOf('monitoring', 'operator')
const TENANT = '/api/v1/operator/tenants/{tenant_id}'
const ALERTS = `${TENANT}/alerts` as const
const ONE = `${ALERTS}/{alert_id}` as const
const HOUR_SPAN_MS = 24 * STEP_MS.hour
const DAY_SPAN_MS = 30 * STEP_MS.day

export function monitoringEndpoints(world: ApiWorld): readonly Endpoint[] {
  return [figuresEndpoint(world), ...alertEndpoints(world)]
}

function figuresEndpoint({ tenants, figures, clock }: ApiWorld): Endpoint {
  return operator.get(`${TENANT}/figures`, {
    summary: 'Shows how many decisions were made, per hour or per day.',
    description: 'Hours are kept for 14 days, days for 400. Gateways report every few seconds.',
    query: SPAN_QUERY,
    answers: { 200: json(FiguresAnswer, 'One series per outcome and reason.') },
    handle: async (c, { path, query: { from, to, step } }) => {
      const { tenantId } = await tenants.get(path.tenant_id)
      const toMs = to === undefined ? clock.nowMs() : Date.parse(to)
      const spanMs = step === 'hour' ? HOUR_SPAN_MS : DAY_SPAN_MS
      const fromMs = from === undefined ? toMs - spanMs : Date.parse(from)
      if (fromMs >= toMs)
        throw new Refusal('query_invalid', { field: 'from' }, '"from" must be before "to".')
      const span = wholeSteps({ fromMs, toMs, step })
      if (span.toMs - span.fromMs > LIMITS.figureTimesMax * STEP_MS[step]) {
        const most = `"from" and "to" must be at most ${LIMITS.figureTimesMax} ${step}s apart.`
        throw new Refusal('query_invalid', { field: 'from' }, most)
      }
      const { times, lines } = await figures.series(tenantId, span)
      return c.json({
        step,
        from: iso(span.fromMs),
        to: iso(span.toMs),
        times: times.map(iso),
        series: lines,
      })
    },
  })
}

function alertEndpoints({ tenants, alerts }: ApiWorld): readonly Endpoint[] {
  const shown = async (alert: AlertRow) =>
    alertView({ ...alert, emailRecipientsWaiting: await alerts.waitingOf(alert) })
  const theAlert = { 200: json(Alert, 'The updated alert.') }
  return [
    operator.post(ALERTS, {
      summary: 'Creates an alert: `alert.triggered` is sent when a metric reaches its threshold.',
      description:
        'Sent once per crossing: the metric has to fall below the threshold first, and the ' +
        'cooldown has to pass. The window is counted in whole minutes.',
      body: NewAlertBody,
      example: {
        metric: 'refused_sign_ins',
        threshold: 100,
        window_seconds: 300,
        cool_down_seconds: 3600,
      },
      answers: { 201: json(Alert, 'The alert.') },
      refusals: ['alerts_exhausted', 'alert_recipients_exhausted'],
      handle: async (c, { path, body }) => {
        const alert = await alerts.create(path.tenant_id, fromOutside(body), c.var.actor)
        return c.json(await shown(alert), 201)
      },
    }),
    operator.get(ALERTS, {
      summary: 'Lists the alerts of a tenant.',
      query: PAGE_QUERY,
      answers: { 200: json(pageOf(Alert), 'One page of alerts.') },
      handle: async (c, { path, query }) => {
        const { tenantId } = await tenants.get(path.tenant_id)
        const { items, next } = await alerts.list(tenantId, query)
        return c.json({ items: await Promise.all(items.map(shown)), next })
      },
    }),
    operator.get(ONE, {
      summary: 'Shows one alert.',
      answers: theAlert,
      refusals: ['alert_not_found'],
      handle: async (c, { path }) => {
        const { tenantId } = await tenants.get(path.tenant_id)
        return c.json(await shown(await alerts.get(tenantId, path.alert_id)))
      },
    }),
    operator.patch(ONE, {
      summary: 'Changes an alert; fields you leave out stay.',
      description: 'After a change, for example of the threshold, it can trigger again.',
      body: AlertPatchBody,
      example: { threshold: 50, is_enabled: true },
      answers: theAlert,
      refusals: ['alert_not_found', 'alert_recipients_exhausted'],
      handle: async (c, { path, body }) => {
        const { tenantId } = await tenants.get(path.tenant_id)
        const patch = fromOutside(body)
        return c.json(await shown(await alerts.patch(tenantId, path.alert_id, patch, c.var.actor)))
      },
    }),
    operator.delete(ONE, {
      summary: 'Deletes an alert.',
      answers: { 204: nothing('The alert is deleted.') },
      refusals: ['alert_not_found'],
      handle: async (c, { path }) => {
        const { tenantId } = await tenants.get(path.tenant_id)
        await alerts.remove(tenantId, path.alert_id, c.var.actor)
        return c.body(null, 204)
      },
    }),
  ]
}
