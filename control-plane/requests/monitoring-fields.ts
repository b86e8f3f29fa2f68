/** What the operator API takes for monitoring. A message completes «"field" must be …». */
import * as v from 'valibot'
import { LIMITS } from '../../shared/limits.ts'
import { ALERT_METRIC_NAMES } from '../store/monitoring-names.ts'
import { flag, oneOf, whole } from './fields.ts'
import { email } from './people-fields.ts'

const EMAIL_LANGUAGES = ['en', 'de'] as const

const RECIPIENTS_WISH = `a list of at most ${LIMITS.alertOtherRecipientsMax} email addresses`
const recipients = v.pipe(
  v.array(v.pipe(email, v.toLowerCase()), RECIPIENTS_WISH),
  v.maxLength(LIMITS.alertOtherRecipientsMax, RECIPIENTS_WISH),
  v.transform((emails) => [...new Set(emails)]),
)

const alert = v.strictObject({
  metric: oneOf(ALERT_METRIC_NAMES),
  threshold: whole(1, LIMITS.alertThresholdMax),
  window_seconds: whole(60, LIMITS.alertWindowSecondsMax, ' of seconds'),
  cool_down_seconds: whole(0, LIMITS.alertCoolDownSecondsMax, ' of seconds'),
  is_enabled: flag,
  email_language: v.nullable(oneOf(EMAIL_LANGUAGES)),
  email_recipients: recipients,
})

export const NewAlertBody = v.strictObject({
  ...alert.entries,
  window_seconds: v.optional(alert.entries.window_seconds, 300),
  cool_down_seconds: v.optional(alert.entries.cool_down_seconds, 3600),
  is_enabled: v.optional(flag, true),
  email_language: v.optional(alert.entries.email_language, null),
  email_recipients: v.optional(recipients, []),
})

export const AlertPatchBody = v.partial(alert)

const TIME_WISH = 'a time like 2026-03-01T00:00:00Z'
const TIME_CHARACTERS_MAX = 35
/** With its zone: what «local» would be, nobody knows here. */
const TIME = /^[12]\d{3}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/

/** An instant, as it was written. */
export const moment = (description?: string) =>
  v.pipe(
    v.string(TIME_WISH),
    v.maxLength(TIME_CHARACTERS_MAX, TIME_WISH),
    v.regex(TIME, TIME_WISH),
    v.check((value) => isMoment(value), TIME_WISH),
    v.description(description ?? `${TIME_WISH.slice(0, 1).toUpperCase()}${TIME_WISH.slice(1)}.`),
  )

/** `Date.parse` takes the 31st of a shorter month for a day of the next one. */
function isMoment(value: string): boolean {
  const day = Number(value.slice(8, 10))
  const asUtc = new Date(Date.parse(`${value.slice(0, 10)}T00:00:00Z`))
  return !Number.isNaN(Date.parse(value)) && asUtc.getUTCDate() === day
}

const STEP_WISH = 'hour or day'
export const SPAN_QUERY = {
  from: v.optional(moment('The first hour or day; by default a day, or 30 days, before `to`.')),
  to: v.optional(moment('The end (exclusive); now by default.')),
  step: v.optional(v.picklist(['hour', 'day'], STEP_WISH), 'hour'),
} as const
