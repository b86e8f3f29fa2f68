/** Alerts: thresholds that a tenant is told of, and what each would have told of. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { NewAlertBody } from '../../requests/monitoring-fields.ts'
import { PAGE_QUERY } from '../../requests/paging.ts'
import type { Alert, NewAlert } from '../../monitoring/alerts.ts'
import { ALERT_METRICS } from '../../store/monitoring-names.ts'
import { asking } from '../asking.ts'
import { linkButton } from '../../pages/blocks/form.ts'
import { emptyState, pager, table } from '../blocks/table.ts'
import { badge, moment } from '../blocks/text.ts'
import { durationText } from '../durations.ts'
import { TENANT_PATH, tenantPath } from '../navigation.ts'
import {
  action,
  done,
  page,
  type ApiCall,
  type ConsoleRoute,
  type TenantVisit,
  type View,
} from '../route.ts'
import type { ConsoleWorld } from '../world.ts'
import { ALERT_FORM, alertForm, asAttempt, METRIC_LABELS, previewCard } from './alert-form.ts'
import type { Attempt } from '../../pages/blocks/field.ts'

const PATH = `${TENANT_PATH}/alerts` as const
const ONE = `${PATH}/{alert_id}` as const
const EXAMPLE = {
  metric: 'refused_sign_ins',
  threshold: 100,
  window_seconds: 300,
  cool_down_seconds: 3600,
}

const PreviewBody = v.strictObject({
  ...NewAlertBody.entries,
  alert_id: v.optional(v.string()),
})

export function alertsRoutes({ alerts }: ConsoleWorld): readonly ConsoleRoute[] {
  const at = ({ tenant: { tenantId } }: TenantVisit) => tenantPath(tenantId, 'alerts')

  async function showOne(
    visit: TenantVisit,
    alertId: string | undefined,
    attempt?: Attempt,
  ): Promise<View> {
    const { tenantId } = visit.tenant
    const alert = alertId === undefined ? undefined : await alerts.get(tenantId, alertId)
    const waiting = alert === undefined ? [] : await alerts.waitingOf(alert)
    return {
      title: alert === undefined ? 'New alert' : `Alert: ${METRIC_LABELS[alert.metric]}`,
      here: 'alerts',
      intro:
        'Sends the webhook event alert.triggered, and an email if you like, each time the threshold is reached.',
      content: alertForm(visit, { alert, waiting, attempt }),
      hasCharts: true,
      calls: [callOf(tenantId, alertId)],
    }
  }

  return [
    page({ path: PATH, role: 'tenant', query: PAGE_QUERY }, async (visit) => {
      const { tenant, query, address } = visit
      const { items, next } = await alerts.list(tenant.tenantId, query)
      return {
        title: 'Alerts',
        here: 'alerts',
        intro: 'Get notified when a number reaches its threshold.',
        buttons: [linkButton(`${at(visit)}/new`, 'New alert')],
        content: html`${list(at(visit), items)}
        ${pager(address, { next, isFirst: query.cursor === undefined })}`,
        calls: [{ method: 'GET', path: apiOf(tenant.tenantId) }],
      }
    }),
    page({ path: `${PATH}/new`, role: 'tenant', isForForm: true }, (visit) =>
      showOne(visit, undefined),
    ),
    action(
      { path: `${PATH}/new`, role: 'tenant', form: ALERT_FORM, body: NewAlertBody, isOnce: true },
      async (visit, body) => {
        await alerts.create(visit.tenant.tenantId, toNewAlert(body), visit.actor)
        return done(at(visit), 'Alert created.')
      },
      (visit, attempt) => showOne(visit, undefined, attempt),
    ),
    action(
      {
        path: `${PATH}/preview`,
        role: 'tenant',
        form: { ...ALERT_FORM, alert_id: 'optional' },
        body: PreviewBody,
      },
      async (visit, { alert_id: alertId, ...body }) => {
        const rule = toNewAlert(body)
        const preview = await alerts.preview(visit.tenant.tenantId, rule)
        const view = await showOne(visit, alertId, asAttempt(rule))
        return { ...view, content: html`${view.content} ${previewCard(rule, preview)}` }
      },
      (visit, attempt) => showOne(visit, attempt.values.get('alert_id'), attempt),
    ),
    page({ path: ONE, role: 'tenant' }, (visit) => showOne(visit, visit.path.alert_id)),
    action(
      { path: ONE, role: 'tenant', form: ALERT_FORM, body: NewAlertBody },
      async (visit, body) => {
        const { tenant, path, actor } = visit
        await alerts.patch(tenant.tenantId, path.alert_id, toNewAlert(body), actor)
        return done(at(visit), 'Alert saved.')
      },
      (visit, attempt) => showOne(visit, visit.path.alert_id, attempt),
    ),
    ...asking(
      { path: `${ONE}/remove`, role: 'tenant', here: 'alerts' },
      async (visit) => {
        const { tenantId } = visit.tenant
        const alert = await alerts.get(tenantId, visit.path.alert_id)
        return {
          title: `Delete the alert for ${METRIC_LABELS[alert.metric].toLowerCase()}?`,
          effects: [
            `You won’t be notified anymore of ${ruleText(alert)}.`,
            'Past alerts stay in Events.',
          ],
          submit: 'Delete alert',
          cancel: at(visit),
          calls: [{ method: 'DELETE', path: `${apiOf(tenantId)}/${alert.alertId}` }],
        }
      },
      async (visit) => {
        await alerts.remove(visit.tenant.tenantId, visit.path.alert_id, visit.actor)
        return done(at(visit), 'Alert deleted.')
      },
    ),
  ]
}

function toNewAlert(body: v.InferOutput<typeof NewAlertBody>): NewAlert {
  return {
    metric: body.metric,
    threshold: body.threshold,
    windowSeconds: body.window_seconds,
    coolDownSeconds: body.cool_down_seconds,
    isEnabled: body.is_enabled,
    emailLanguage: body.email_language,
    emailRecipients: body.email_recipients,
  }
}

const apiOf = (tenantId: string) => `/api/v1/operator/tenants/${tenantId}/alerts`

function callOf(tenantId: string, alertId: string | undefined): ApiCall {
  return alertId === undefined
    ? { method: 'POST', path: apiOf(tenantId), body: EXAMPLE }
    : { method: 'PATCH', path: `${apiOf(tenantId)}/${alertId}`, body: { threshold: 50 } }
}

const ruleText = ({ threshold, windowSeconds }: Alert) =>
  `${threshold.toLocaleString('en')} or more within ${durationText(windowSeconds)}`

function list(path: string, items: readonly Alert[]) {
  return table({
    caption: 'Alerts',
    rows: items,
    columns: [
      {
        label: 'Metric',
        isName: true,
        cell: ({ alertId, metric }) =>
          html`<a href="${path}/${alertId}">${METRIC_LABELS[metric]}</a>
            <span class="hint">${ALERT_METRICS[metric]}</span>`,
      },
      { label: 'Threshold', cell: ruleText },
      { label: 'Email', cell: emailText },
      { label: 'Status', cell: stateBadge },
      { label: 'Last triggered', cell: ({ triggeredAt }) => moment(triggeredAt) },
      {
        label: 'Actions',
        isUnseen: true,
        cell: ({ alertId, metric }) =>
          html`<a class="button small" href="${path}/${alertId}/remove">Delete<span class="unseen"> the alert for ${METRIC_LABELS[metric]}</span></a>`,
      },
    ],
    empty: emptyState(
      'No alerts yet',
      'An alert watches a number, such as refused sign-ins, and notifies you when it reaches a threshold.',
      linkButton(`${path}/new`, 'Create alert'),
    ),
  })
}

function emailText({ emailLanguage, emailRecipients: { length: others } }: Alert): string {
  if (emailLanguage === null) return 'No'
  if (others === 0) return 'Administrators'
  return `Administrators and ${others === 1 ? '1 other' : `${others} others`}`
}

function stateBadge({ isEnabled, isAbove }: Alert) {
  if (!isEnabled) return badge('Disabled')
  return isAbove ? badge('Triggered', 'bad') : badge('OK', 'good')
}
