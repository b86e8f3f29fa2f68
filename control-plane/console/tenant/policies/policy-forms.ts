/** The six forms: what each policy is for, how its fields are read, and how they are shown. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { MINUTE_MS } from '../../../../shared/clock.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { POLICY_ANSWERS } from '../../../requests/policy-fields.ts'
import type { PolicyName } from '../../../policy/policies.ts'
import {
  checkField,
  choicesField,
  linesField,
  selectField,
  textField,
  wholeField,
  type Attempt,
} from '../../../pages/blocks/field.ts'
import { DAY_SECONDS, durationText } from '../../durations.ts'
import type { FormShape } from '../../form-values.ts'
import type { Html } from '../../../pages/html.ts'
import { typedBreakGlass, writtenBreakGlass } from './break-glass.ts'
import { deviceForm, systemLines } from './device-form.ts'
import type { PolicyForm } from './policy-form.ts'
import { POLICY_LABELS as LABELS, POLICY_OPTIONS as OPTIONS } from './policy-words.ts'

const { password, lockout, mfa, network, session } = POLICY_ANSWERS

const SIGN_IN_MAIL_MINUTES = LIMITS.signInMailMsMax / MINUTE_MS

const text = (value: number | null) => (value === null ? '' : String(value))
const daysText = (days: number | null) => (days === null ? '' : durationText(days * DAY_SECONDS))

export const POLICY_FORMS: { readonly [Name in PolicyName]: PolicyForm<Name> } = {
  password: {
    title: 'Passwords',
    about: 'Who can use a password, requirements for new ones, and when they expire.',
    besides:
      'Length, strength, breach and history rules apply to passwords chosen from now on. Existing passwords keep working until they expire. Existing sessions continue, however they were opened.',
    shape: {
      sign_in: 'text',
      break_glass: 'lines',
      email_sign_in: 'flag',
      sign_up: 'text',
      sign_up_domains: 'lines',
      sign_up_groups: 'lines',
      min_length: 'whole',
      min_strength: 'whole',
      refuse_breached: 'flag',
      history: 'whole',
      max_age_days: 'days',
    },
    entries: {
      ...password.entries,
      max_age_days: v.optional(password.entries.max_age_days, null),
      break_glass: typedBreakGlass,
    },
    written: writtenBreakGlass,
    fields: (settings, attempt) => html`
      ${selectField({ name: 'sign_in', label: LABELS.password.sign_in, hint: 'Needs an active connection.', options: OPTIONS.sign_in, value: settings.sign_in, attempt })}
      ${linesField({ name: 'break_glass', label: LABELS.password.break_glass, hint: `Usernames or emails of people who can always use their password, one per line, at most ${LIMITS.deviceBreakGlassMax}. They need a second factor, set up beforehand. Each of these sign-ins is recorded in the audit trail.`, rows: 3, isOptional: true, value: settings.break_glass.join('\n'), attempt })}
      ${checkField({ name: 'email_sign_in', label: LABELS.password.email_sign_in, hint: `People can ask for an email with a link and a code instead of typing their password. Both work once, for ${SIGN_IN_MAIL_MINUTES} minutes, and only in the browser that asked. Second factor, device and lockout rules still apply. Nobody gets one while only emergency access may use passwords, if a connection has their email domain, or if they come from a user directory.`, isOn: settings.email_sign_in, attempt })}
      ${selectField({ name: 'sign_up', label: LABELS.password.sign_up, hint: 'The sign-in page gets a link “Create an account”. People confirm their email address first. Nobody can while only emergency access may use passwords, with an address whose domain a connection has, or in a tenant with a user directory. Turning it off discards requests that wait for approval.', options: OPTIONS.sign_up, value: settings.sign_up, attempt })}
      ${linesField({ name: 'sign_up_domains', label: LABELS.password.sign_up_domains, hint: `Like example.com, one per line, at most ${LIMITS.signUpDomainsMax}. Leave empty to accept every domain.`, rows: 3, isOptional: true, value: settings.sign_up_domains.join('\n'), attempt })}
      ${linesField({ name: 'sign_up_groups', label: LABELS.password.sign_up_groups, hint: `Names of groups that people are in once they have created an account, one per line, at most ${LIMITS.signUpGroupsMax}. Not of groups that your provider manages.`, rows: 3, isOptional: true, value: settings.sign_up_groups.join('\n'), attempt })}
      ${wholeField({ name: 'min_length', label: LABELS.password.min_length, hint: `In characters, at least ${LIMITS.passwordCharactersMin}.`, value: text(settings.min_length), attempt })}
      ${selectField({ name: 'min_strength', label: LABELS.password.min_strength, hint: 'Estimated with zxcvbn.', options: OPTIONS.min_strength, value: text(settings.min_strength), attempt })}
      ${checkField({ name: 'refuse_breached', label: LABELS.password.refuse_breached, isOn: settings.refuse_breached, attempt })}
      ${wholeField({ name: 'history', label: LABELS.password.history, hint: `How many previous passwords can’t be reused, 0 to ${LIMITS.passwordHistoryMax}.`, value: text(settings.history), attempt })}
      ${textField({ name: 'max_age_days', label: LABELS.password.max_age_days, hint: 'For example 90 days. After that, the next sign-in asks for a new password. Leave empty for never.', isOptional: true, value: daysText(settings.max_age_days), attempt })}
    `,
  },
  lockout: {
    title: 'Lockout',
    about: 'How many failed sign-ins lock an account or block an address.',
    besides:
      'Current lockouts continue. Each further lockout within 24 hours lasts twice as long, up to 24 hours.',
    shape: {
      user_failures: 'whole',
      address_failures: 'whole',
      window_seconds: 'seconds',
      pause_seconds: 'seconds',
    },
    entries: lockout.entries,
    fields: (settings, attempt) => html`
      ${wholeField({ name: 'user_failures', label: LABELS.lockout.user_failures, value: text(settings.user_failures), attempt })}
      ${wholeField({ name: 'address_failures', label: LABELS.lockout.address_failures, hint: `Offices often share one address, so leave room for many people. All networks of one IPv6 site together get ${LIMITS.rateSiteFactor} times as many.`, value: text(settings.address_failures), attempt })}
      ${textField({ name: 'window_seconds', label: LABELS.lockout.window_seconds, hint: 'For example 15 min.', value: durationText(settings.window_seconds), attempt })}
      ${textField({ name: 'pause_seconds', label: LABELS.lockout.pause_seconds, hint: 'For example 15 min.', value: durationText(settings.pause_seconds), attempt })}
    `,
  },
  mfa: {
    title: 'Second factor',
    about: 'Who needs more than a password to sign in, and when.',
    besides:
      'People without a second factor set one up at the next sign-in that requires it. Existing sessions continue.',
    shape: { mode: 'text', risks: 'choices' },
    entries: mfa.entries,
    fields: (settings, attempt) => html`
      ${selectField({
        name: 'mode',
        label: LABELS.mfa.mode,
        options: OPTIONS.mode,
        value: settings.mode,
        attempt,
      })}
      ${choicesField({
        name: 'risks',
        label: LABELS.mfa.risks,
        hint: 'Used when the second factor is set to “On risk”.',
        options: OPTIONS.risks,
        chosen: settings.risks,
        attempt,
      })}
    `,
  },
  network: {
    title: 'Networks',
    about: 'Where people can sign in from.',
    besides: 'Existing sessions continue, from any network.',
    shape: { allow: 'lines', deny: 'lines' },
    entries: network.entries,
    fields: (settings, attempt) => html`
      ${linesField({ name: 'allow', label: LABELS.network.allow, hint: 'Addresses or networks like 192.0.2.0/24, one per line. Leave empty to allow all.', rows: 5, isOptional: true, value: settings.allow.join('\n'), attempt })}
      ${linesField({ name: 'deny', label: LABELS.network.deny, hint: 'Takes precedence over the list above.', rows: 5, isOptional: true, value: settings.deny.join('\n'), attempt })}
    `,
  },
  device: deviceForm,
  session: {
    title: 'Sessions',
    about: 'How long people stay signed in, and in how many browsers.',
    besides:
      'Applies to existing sessions immediately: sessions past the new limits end, oldest first if a person has too many.',
    shape: {
      max_session_seconds: 'seconds',
      idle_seconds: 'seconds',
      session_binding: 'text',
      concurrent_max: 'whole',
      when_full: 'text',
    },
    entries: {
      ...session.entries,
      concurrent_max: v.optional(session.entries.concurrent_max, null),
    },
    fields: (settings, attempt) => html`
      ${textField({ name: 'max_session_seconds', label: LABELS.session.max_session_seconds, hint: 'For example 8 h.', value: durationText(settings.max_session_seconds), attempt })}
      ${textField({ name: 'idle_seconds', label: LABELS.session.idle_seconds, hint: 'For example 15 min.', value: durationText(settings.idle_seconds), attempt })}
      ${selectField({
        name: 'session_binding',
        label: LABELS.session.session_binding,
        options: OPTIONS.session_binding,
        value: settings.session_binding,
        attempt,
      })}
      ${wholeField({ name: 'concurrent_max', label: LABELS.session.concurrent_max, hint: `Leave empty for the maximum of ${LIMITS.sessionsPerPersonMax}.`, isOptional: true, value: text(settings.concurrent_max), attempt })}
      ${selectField({
        name: 'when_full',
        label: LABELS.session.when_full,
        options: OPTIONS.when_full,
        value: settings.when_full,
        attempt,
      })}
    `,
  },
}

/** Settings as the form would send them: for the button that saves what has been looked at. */
export function sentAs(shape: FormShape, settings: object): readonly (readonly [string, string])[] {
  const values = settings as Readonly<Record<string, unknown>>
  return Object.entries(shape).flatMap(([name, kind]): (readonly [string, string])[] => {
    const value = values[name]
    if (kind === 'flag') return value === true ? [[name, 'on']] : []
    if (kind === 'choices') return (value as readonly string[]).map((one) => [name, one])
    if (kind === 'lines') return [[name, inLines(value)]]
    return [[name, typeof value === 'string' || typeof value === 'number' ? String(value) : '']]
  })
}

const inLines = (value: unknown) =>
  (Array.isArray(value) ? (value as readonly string[]) : systemLines(value as object)).join('\n')

/** For days of the past that a proposal is tried on. */
export function daysField(days: number, attempt?: Attempt): Html {
  return selectField({
    name: 'days',
    label: 'Preview with sign-ins from',
    options: [
      { value: '1', label: 'the last day' },
      { value: '7', label: 'the last 7 days' },
      { value: String(LIMITS.replayDaysMax), label: `the last ${LIMITS.replayDaysMax} days` },
    ],
    value: String(days),
    attempt,
  })
}
