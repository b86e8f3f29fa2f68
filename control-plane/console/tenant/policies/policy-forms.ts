/** The six forms: what each policy is for, how its fields are read, and how they are shown. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { LIMITS } from '../../../../shared/limits.ts'
import { POLICY_ANSWERS } from '../../../requests/policy-fields.ts'
import type { Policies, PolicyName } from '../../../policy/policies.ts'
import {
  checkField,
  choicesField,
  linesField,
  selectField,
  wholeField,
  type Attempt,
} from '../../../pages/blocks/field.ts'
import type { FormShape } from '../../form-values.ts'
import type { Html } from '../../../pages/html.ts'

export interface PolicyForm<Name extends PolicyName = PolicyName> {
  readonly title: string
  /** What it decides, in a sentence. */
  readonly about: string
  /** What a replay of sign-ins cannot show. */
  readonly besides: string
  readonly shape: FormShape
  /** What each field must be; whole, since what the form leaves empty has a meaning of its own. */
  readonly entries: {
    readonly [Field in keyof Policies[Name]]: v.GenericSchema<unknown, Policies[Name][Field]>
  }
  readonly fields: (settings: Policies[Name], attempt?: Attempt) => Html
}

const { password, lockout, mfa, network, device, session } = POLICY_ANSWERS

const text = (value: number | null) => (value === null ? '' : String(value))

const STRENGTHS = [
  '0: anything goes',
  '1: not the worst ones',
  '2: withstands guessing online',
  '3: hard to guess',
  '4: very hard to guess',
].map((label, value) => ({ value: String(value), label }))

export const POLICY_FORMS: { readonly [Name in PolicyName]: PolicyForm<Name> } = {
  password: {
    title: 'Passwords',
    about: 'What a new password must be, and how long it is good for.',
    besides:
      'Length, strength, breaches and history count for passwords that are chosen from now on. Nobody has to change the one they have, unless it grows too old.',
    shape: {
      min_length: 'whole',
      min_strength: 'whole',
      refuse_breached: 'flag',
      history: 'whole',
      max_age_days: 'whole',
    },
    entries: {
      ...password.entries,
      max_age_days: v.optional(password.entries.max_age_days, null),
    },
    fields: (settings, attempt) => html`
      ${wholeField({ name: 'min_length', label: 'Shortest length', hint: `Characters, from ${LIMITS.passwordCharactersMin}.`, value: text(settings.min_length), attempt })}
      ${selectField({ name: 'min_strength', label: 'Lowest strength', hint: 'As zxcvbn estimates it.', options: STRENGTHS, value: text(settings.min_strength), attempt })}
      ${checkField({ name: 'refuse_breached', label: 'Refuse passwords that are known from breaches', isOn: settings.refuse_breached, attempt })}
      ${wholeField({ name: 'history', label: 'Earlier passwords that may not come back', hint: `0 to ${LIMITS.passwordHistoryMax}.`, value: text(settings.history), attempt })}
      ${wholeField({ name: 'max_age_days', label: 'Highest age in days', hint: 'Then the next sign-in asks for a new one. Empty: a password is good for ever.', isOptional: true, value: text(settings.max_age_days), attempt })}
    `,
  },
  lockout: {
    title: 'Lockout',
    about: 'How many sign-ins may fail before an account or an address has to wait.',
    besides:
      'Who waits now goes on waiting. Each further pause within a day is twice as long; nobody is locked out for longer than a day.',
    shape: {
      user_failures: 'whole',
      address_failures: 'whole',
      window_seconds: 'whole',
      pause_seconds: 'whole',
    },
    entries: lockout.entries,
    fields: (settings, attempt) => html`
      ${wholeField({ name: 'user_failures', label: 'Failures of one account', value: text(settings.user_failures), attempt })}
      ${wholeField({ name: 'address_failures', label: 'Failures from one address', hint: `Whole offices share one: leave room for many people. All networks of one IPv6 site together have ${LIMITS.rateSiteFactor} times as many.`, value: text(settings.address_failures), attempt })}
      ${wholeField({ name: 'window_seconds', label: 'Counted within', hint: 'Seconds; 900 are 15 minutes.', value: text(settings.window_seconds), attempt })}
      ${wholeField({ name: 'pause_seconds', label: 'First pause', hint: 'Seconds; 900 are 15 minutes.', value: text(settings.pause_seconds), attempt })}
    `,
  },
  mfa: {
    title: 'Second factor',
    about: 'Who shows more than a password, and when.',
    besides:
      'Whoever has no second factor yet is asked to set one up with the next sign-in that demands it. Running sessions go on.',
    shape: { mode: 'text', risks: 'choices' },
    entries: mfa.entries,
    fields: (settings, attempt) => html`
      ${selectField({
        name: 'mode',
        label: 'Second factor',
        options: [
          { value: 'off', label: 'Off: never asked for' },
          { value: 'optional', label: 'Optional: asked of whoever has set one up' },
          { value: 'on_risk', label: 'On risk: asked of everybody, at the risks below' },
          { value: 'required', label: 'Required: asked of everybody, always' },
        ],
        value: settings.mode,
        attempt,
      })}
      ${choicesField({
        name: 'risks',
        label: 'Risks',
        hint: 'They count where the second factor is asked for on risk.',
        options: [
          { value: 'new_device', label: 'A browser that has not signed in to the account before' },
          {
            value: 'new_network',
            label: 'A network that the person has not signed in from lately',
          },
        ],
        chosen: settings.risks,
        attempt,
      })}
    `,
  },
  network: {
    title: 'Networks',
    about: 'From where people may sign in.',
    besides: 'Running sessions go on, wherever they are.',
    shape: { allow: 'lines', deny: 'lines' },
    entries: network.entries,
    fields: (settings, attempt) => html`
      ${linesField({ name: 'allow', label: 'Only from', hint: 'Addresses or networks like 192.0.2.0/24, one a line. Empty: from everywhere.', rows: 5, isOptional: true, value: settings.allow.join('\n'), attempt })}
      ${linesField({ name: 'deny', label: 'Never from', hint: 'Wins over the list above.', rows: 5, isOptional: true, value: settings.deny.join('\n'), attempt })}
    `,
  },
  device: {
    title: 'Devices',
    about: 'On which browsers people may sign in.',
    besides: 'Running sessions go on.',
    shape: { require: 'text', notify_new: 'flag' },
    entries: device.entries,
    fields: (settings, attempt) => html`
      ${selectField({
        name: 'require',
        label: 'Browsers',
        options: [
          { value: 'any', label: 'Any' },
          { value: 'known', label: 'A new one has to show a second factor' },
          { value: 'enrolled', label: 'Only devices with our agent' },
        ],
        value: settings.require,
        attempt,
      })}
      ${checkField({ name: 'notify_new', label: 'Mail the person when a browser signs in for the first time', isOn: settings.notify_new, attempt })}
    `,
  },
  session: {
    title: 'Sessions',
    about: 'How long somebody stays signed in, and on how many browsers.',
    besides:
      'Running sessions follow at once: whatever is older or idle for longer ends at the gateways, and of whoever has too many the oldest end.',
    shape: {
      max_session_seconds: 'whole',
      idle_seconds: 'whole',
      session_binding: 'text',
      concurrent_max: 'whole',
      when_full: 'text',
    },
    entries: {
      ...session.entries,
      concurrent_max: v.optional(session.entries.concurrent_max, null),
    },
    fields: (settings, attempt) => html`
      ${wholeField({ name: 'max_session_seconds', label: 'Longest session', hint: 'Seconds; 28800 are 8 hours.', value: text(settings.max_session_seconds), attempt })}
      ${wholeField({ name: 'idle_seconds', label: 'Longest without a request', hint: 'Seconds; 900 are 15 minutes.', value: text(settings.idle_seconds), attempt })}
      ${selectField({
        name: 'session_binding',
        label: 'When a session turns up in another browser or network',
        options: [
          { value: 'off', label: 'Nothing happens' },
          { value: 'step_up', label: 'The person signs in again, with a second factor' },
          { value: 'terminate', label: 'It ends everywhere' },
        ],
        value: settings.session_binding,
        attempt,
      })}
      ${wholeField({ name: 'concurrent_max', label: 'Sessions at once', hint: `Of one person. Empty: ${LIMITS.sessionsPerPersonMax}, the most.`, isOptional: true, value: text(settings.concurrent_max), attempt })}
      ${selectField({
        name: 'when_full',
        label: 'When there is one too many',
        options: [
          { value: 'end_oldest', label: 'The oldest ends' },
          { value: 'refuse', label: 'The new one is refused' },
        ],
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
    if (kind === 'lines') return [[name, (value as readonly string[]).join('\n')]]
    return [[name, typeof value === 'string' || typeof value === 'number' ? String(value) : '']]
  })
}

/** For days of the past that a proposal is tried on. */
export function daysField(days: number, attempt?: Attempt): Html {
  return selectField({
    name: 'days',
    label: 'Try it on the sign-ins of',
    options: [
      { value: '1', label: 'the last day' },
      { value: '7', label: 'the last 7 days' },
      { value: String(LIMITS.replayDaysMax), label: `the last ${LIMITS.replayDaysMax} days` },
    ],
    value: String(days),
    attempt,
  })
}
