/** The form of an alert, new or known, and what it would have told of. */
import { html } from 'hono/html'
import { LIMITS } from '../../../shared/limits.ts'
import type { AlertPreview } from '../../monitoring/alert-preview.ts'
import type { Alert, NewAlert } from '../../monitoring/alerts.ts'
import {
  ALERT_METRIC_NAMES,
  ALERT_METRICS,
  type AlertMetric,
} from '../../store/monitoring-names.ts'
import { chart } from '../blocks/chart.ts'
import {
  checkField,
  linesField,
  selectField,
  wholeField,
  type Option,
  type Attempt,
} from '../../pages/blocks/field.ts'
import { formCard } from '../blocks/form.ts'
import { card, moment } from '../blocks/text.ts'
import { durationText } from '../durations.ts'
import type { Html } from '../../pages/html.ts'
import { tenantPath } from '../navigation.ts'
import type { TenantVisit } from '../route.ts'

export const METRIC_LABELS: Readonly<Record<AlertMetric, string>> = {
  refused_sign_ins: 'Refused sign-ins',
  step_ups: 'Second factors requested',
  sealed_hits: 'Sealed path requests',
  lockouts: 'Lockouts',
  device_other_browser: 'Device checks from another browser',
  device_break_glass: 'Emergency access sign-ins',
  failed_deliveries: 'Failed webhook deliveries',
}

export const ALERT_FORM = {
  metric: 'text',
  threshold: 'whole',
  window_seconds: 'whole',
  cool_down_seconds: 'whole',
  is_enabled: 'flag',
  email_language: 'nullable',
  email_recipients: 'lines',
} as const

const EMAIL_OPTIONS: readonly Option[] = [
  { value: '', label: 'No' },
  { value: 'en', label: 'Yes, in English' },
  { value: 'de', label: 'Yes, in German' },
]

const WINDOWS = [60, 300, 900, 3600, 21_600, 86_400]
const COOL_DOWNS = [0, 900, 3600, 21_600, 86_400, 604_800]

/** What others have set by the API is not lost by opening the form. */
function durations(known: readonly number[], current: number | undefined): Option[] {
  const all = [...new Set([...known, ...(current === undefined ? [] : [current])])]
  return all
    .sort((a, b) => a - b)
    .map((seconds) => ({
      value: String(seconds),
      label: seconds === 0 ? 'None' : durationText(seconds),
    }))
}

interface FormView {
  readonly alert: Alert | undefined
  /** Addresses that have not agreed yet. */
  readonly waiting: readonly string[]
  readonly attempt?: Attempt | undefined
}

export function alertForm(visit: TenantVisit, { alert, waiting, attempt }: FormView): Html {
  const path = tenantPath(visit.tenant.tenantId, 'alerts')
  const typed = (name: string) => {
    const value = attempt?.values.get(name) ?? ''
    return /^\d{1,9}$/.test(value) ? Number(value) : undefined
  }
  const {
    threshold = 20,
    windowSeconds = 300,
    coolDownSeconds = 3600,
    isEnabled = true,
    emailLanguage = null,
    emailRecipients = [],
  } = alert ?? {}
  return formCard(visit, {
    action: alert === undefined ? `${path}/new` : `${path}/${alert.alertId}`,
    submit: alert === undefined ? 'Create alert' : 'Save',
    cancel: path,
    attempt,
    ...(alert && { hidden: { alert_id: alert.alertId } }),
    content: html`
        ${selectField({
          name: 'metric',
          label: 'Metric',
          options: ALERT_METRIC_NAMES.map((value) => ({ value, label: METRIC_LABELS[value] })),
          value: alert?.metric ?? 'refused_sign_ins',
          attempt,
        })}
        ${wholeField({ name: 'threshold', label: 'Alert at or above', value: String(threshold), attempt })}
        ${selectField({ name: 'window_seconds', label: 'Within', options: durations(WINDOWS, typed('window_seconds') ?? windowSeconds), value: String(windowSeconds), attempt })}
        ${selectField({ name: 'cool_down_seconds', label: 'Cooldown', options: durations(COOL_DOWNS, typed('cool_down_seconds') ?? coolDownSeconds), value: String(coolDownSeconds), attempt })}
        ${selectField({
          name: 'email_language',
          label: 'Email administrators',
          hint: 'Besides the webhook event alert.triggered. At most one email per alert every 15 minutes.',
          options: EMAIL_OPTIONS,
          value: emailLanguage ?? '',
          isFree: true,
          attempt,
        })}
        ${linesField({
          name: 'email_recipients',
          label: 'Also email',
          hint: `Other addresses, one per line, up to ${LIMITS.alertOtherRecipientsMax}. Each gets a link to confirm first, and can unsubscribe.${waiting.length === 0 ? '' : ` Not confirmed yet: ${waiting.join(', ')}.`}`,
          isOptional: true,
          value: emailRecipients.join('\n'),
          attempt,
        })}
        ${checkField({ name: 'is_enabled', label: 'Enabled', isOn: isEnabled, attempt })}
        <p>
          <button type="submit" class="button quiet" formaction="${path}/preview">Preview on the last 24 hours</button>
        </p>
      `,
  })
}

/** The form as it was sent, to be shown once more beside the preview. */
export function asAttempt(rule: NewAlert): Attempt {
  const values = new Map<string, string>([
    ['metric', rule.metric],
    ['threshold', String(rule.threshold)],
    ['window_seconds', String(rule.windowSeconds)],
    ['cool_down_seconds', String(rule.coolDownSeconds)],
  ])
  values.set('email_language', rule.emailLanguage ?? '')
  values.set('email_recipients', (rule.emailRecipients ?? []).join('\n'))
  if (rule.isEnabled) values.set('is_enabled', 'on')
  return { values, choices: new Map(), problems: new Map() }
}

const TIMES_LISTED_MAX = 10

export function previewCard(rule: NewAlert, preview: AlertPreview): Html {
  const { triggeredAt, most, times, values } = preview
  const count = triggeredAt.length
  const would =
    count === 0
      ? `It would not have triggered: the highest count within ${durationText(rule.windowSeconds)} was ${most.toLocaleString('en')}.`
      : `It would have triggered ${count === 1 ? 'once' : `${count} times`}; the highest count within ${durationText(rule.windowSeconds)} was ${most.toLocaleString('en')}.`
  const listed = triggeredAt.slice(-TIMES_LISTED_MAX).reverse()
  return card(
    'In the last 24 hours',
    html`<p role="status">${would}</p>
      ${count === 0 ? '' : html`<p class="hint">${count > listed.length ? 'Most recent: ' : ''}${listed.map((at, index) => html`${index === 0 ? '' : ', '}${moment(at)}`)}</p>`}
      ${chart({
        title: `${METRIC_LABELS[rule.metric]} within ${durationText(rule.windowSeconds)}`,
        times: times.map((ms) => ms / 1000),
        summary: 'most',
        lines: [
          { label: 'Highest count in a window', values, tone: 'plain' },
          {
            label: 'Threshold',
            values: values.map(() => rule.threshold),
            tone: 'bad',
            isLevel: true,
          },
        ],
        nothing: `${ALERT_METRICS[rule.metric]} None in this period.`,
      })}`,
  )
}
