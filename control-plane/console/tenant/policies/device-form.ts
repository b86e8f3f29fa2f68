/** The form of the device policy: which browsers, and what a machine with our agent has to meet. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { LIMITS } from '../../../../shared/limits.ts'
import {
  checkField,
  choicesField,
  linesField,
  selectField,
  textField,
} from '../../../pages/blocks/field.ts'
import { typedBreakGlass, writtenBreakGlass } from './break-glass.ts'
import { POLICY_ANSWERS } from '../../../requests/policy-fields.ts'
import { DAY_SECONDS, durationText, HOUR_SECONDS } from '../../durations.ts'
import type { PolicyForm } from './policy-form.ts'
import { POLICY_LABELS, POLICY_OPTIONS as OPTIONS } from './policy-words.ts'

const LABELS = POLICY_LABELS.device
const { entries } = POLICY_ANSWERS.device

/** `ubuntu 24.04`, a line each. */
export const systemLines = (systems: object): readonly string[] =>
  Object.entries(systems).map(([id, version]) => `${id} ${version}`)

const lengthText = (count: number | null, unitSeconds: number) =>
  count === null || count === 0 ? '' : durationText(count * unitSeconds)

const systemsOf = (lines: string[]) =>
  Object.fromEntries(
    lines.map((line) => {
      const [id = '', ...version] = line.split(/\s+/)
      return [id.toLowerCase(), version.join(' ')]
    }),
  )

export const deviceForm: PolicyForm<'device'> = {
  title: 'Devices',
  about: 'Which browsers and devices people can sign in with.',
  besides:
    'Existing sessions continue until they are next checked. Earlier sign-ins are judged by the device of the person that reported last. A device reports its own state, so a local administrator can forge it.',
  shape: {
    require: 'text',
    notify_new: 'flag',
    mode: 'text',
    grace_days: 'days',
    owner: 'text',
    approved: 'flag',
    key_storage: 'text',
    facts: 'choices',
    unknown: 'text',
    min_os: 'lines',
    min_agent: 'nullable',
    fresh_hours: 'hours',
    typed_code: 'flag',
    break_glass: 'lines',
    on_violation: 'text',
  },
  entries: {
    ...entries,
    grace_days: v.optional(entries.grace_days, 0),
    min_os: v.pipe(v.array(v.string()), v.transform(systemsOf), entries.min_os),
    fresh_hours: v.optional(entries.fresh_hours, null),
    break_glass: typedBreakGlass,
  },
  written: writtenBreakGlass,
  fields: (settings, attempt) => html`
    ${selectField({ name: 'require', label: LABELS.require, options: OPTIONS.require, value: settings.require, attempt })}
    ${checkField({ name: 'notify_new', label: LABELS.notify_new, isOn: settings.notify_new, attempt })}
    <h2>Devices with our agent</h2>
    <p class="hint">Applies if only devices with our agent can sign in. Devices report their own state.</p>
    ${selectField({ name: 'mode', label: LABELS.mode, options: OPTIONS.device_mode, value: settings.mode, attempt })}
    ${textField({ name: 'grace_days', label: LABELS.grace_days, hint: 'For example 7 days. During this time people are warned and can continue.', value: lengthText(settings.grace_days, DAY_SECONDS), isOptional: true, attempt })}
    ${selectField({ name: 'owner', label: LABELS.owner, options: OPTIONS.owner, value: settings.owner, attempt })}
    ${checkField({ name: 'approved', label: LABELS.approved, isOn: settings.approved, attempt })}
    ${selectField({ name: 'key_storage', label: LABELS.key_storage, options: OPTIONS.key_storage, value: settings.key_storage, attempt })}
    ${choicesField({ name: 'facts', label: LABELS.facts, options: OPTIONS.facts, chosen: settings.facts, attempt })}
    ${selectField({ name: 'unknown', label: LABELS.unknown, options: OPTIONS.unknown, value: settings.unknown, attempt })}
    ${linesField({ name: 'min_os', label: LABELS.min_os, hint: 'For example “ubuntu 24.04” or “windows 10.0.26100”, one per line. Systems not listed can have any version.', rows: 3, isOptional: true, value: systemLines(settings.min_os).join('\n'), attempt })}
    ${textField({ name: 'min_agent', label: LABELS.min_agent, isOptional: true, value: settings.min_agent ?? '', attempt })}
    ${textField({ name: 'fresh_hours', label: LABELS.fresh_hours, hint: 'For example 24 h. Leave empty to accept any age.', isOptional: true, value: lengthText(settings.fresh_hours, HOUR_SECONDS), attempt })}
    ${checkField({ name: 'typed_code', label: LABELS.typed_code, hint: 'For browsers that can’t reach the agent. People can be talked into giving such a code to someone else. Each one is recorded in the audit trail.', isOn: settings.typed_code, attempt })}
    ${linesField({ name: 'break_glass', label: LABELS.break_glass, hint: `Usernames or emails of people who can sign in without a device, one per line, at most ${LIMITS.deviceBreakGlassMax}. Each of these sign-ins is recorded in the audit trail.`, rows: 3, isOptional: true, value: settings.break_glass.join('\n'), attempt })}
    ${selectField({ name: 'on_violation', label: LABELS.on_violation, options: OPTIONS.on_violation, value: settings.on_violation, attempt })}
  `,
}
