/** What an operator sets of a tenant, as a form: what stands there is what the gateways go by. */
import { createHash } from 'node:crypto'
import { html } from 'hono/html'
import * as v from 'valibot'
import { MODES } from '../../../../shared/fleet/snapshot.ts'
import { TenantPatchBody } from '../../../requests/tenant-fields.ts'
import type { Tenant } from '../../../tenants/tenants.ts'
import { linesField, selectField, textField, type Attempt } from '../../../pages/blocks/field.ts'
import { form } from '../../blocks/form.ts'
import { durationText, parseDuration } from '../../durations.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import type { Html } from '../../../pages/html.ts'
import type { ViewerVisit } from '../../route.ts'
import { POLICY_OPTIONS } from '../../tenant/policies/policy-words.ts'

export const SETTINGS_FORM = {
  name: 'text',
  mode: 'text',
  hostnames: 'lines',
  origin: 'text',
  sealed: 'lines',
  excluded: 'lines',
  health: 'text',
  max_session_seconds: 'seconds',
  idle_seconds: 'seconds',
  session_binding: 'text',
  time_zone: 'text',
  seen: 'text',
} as const

const { name, mode, hostnames, origin, sealed, excluded, health } = TenantPatchBody.entries
const { max_session_seconds, idle_seconds, session_binding, time_zone } = TenantPatchBody.entries

/** All of them: a form that lacks one would leave people in the dark about what they have saved. */
export const SettingsBody = v.required(
  v.strictObject({
    ...{ name, mode, hostnames, origin, sealed, excluded, health },
    ...{ max_session_seconds, idle_seconds, session_binding, time_zone },
    seen: v.optional(v.pipe(v.string(), v.maxLength(64, 'as it was'))),
  }),
)

const LABELS = {
  name: 'Name',
  mode: 'Enforcement mode',
  hostnames: 'Hostnames',
  origin: 'Origin',
  sealed: 'Sealed paths',
  excluded: 'Public paths',
  health: 'Health path',
  max_session_seconds: 'Maximum session length',
  idle_seconds: 'Idle timeout',
  session_binding: 'If the browser or network changes',
  time_zone: 'Time zone',
} as const

type Setting = keyof typeof LABELS

export const MODE_LABELS = {
  gateway: 'Gateway: in front of the application',
  connector: 'Connector: the application connects out to the gateway',
  sdk: 'SDK: middleware inside the application',
} as const satisfies Record<Tenant['mode'], string>

/** As the fields show them. */
function shownSettings(tenant: Tenant): Record<Setting, string> {
  return {
    name: tenant.name,
    mode: tenant.mode,
    hostnames: tenant.hostnames.join('\n'),
    origin: tenant.origin,
    sealed: tenant.sealed.join('\n'),
    excluded: tenant.excluded.join('\n'),
    health: tenant.health,
    max_session_seconds: durationText(tenant.maxSessionSeconds),
    idle_seconds: durationText(tenant.idleSeconds),
    session_binding: tenant.sessionBinding,
    time_zone: tenant.timeZone,
  }
}

/** Goes along with the form: whoever saves has seen what is there, or is told what differs. */
export function seenOf(tenant: Tenant): string {
  const text = JSON.stringify(shownSettings(tenant))
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}

export function settingsForm(
  visit: Pick<ViewerVisit, 'proofs'>,
  tenant: Tenant,
  action: string,
  attempt: Attempt | undefined,
): Html {
  const shown = shownSettings(tenant)
  // who was not told here of what differs has still seen no more than when they began to type
  const seen = attempt?.problem === undefined ? attempt?.values.get('seen') : undefined
  const field = (setting: Setting, hint?: string) => ({
    name: setting,
    label: LABELS[setting],
    value: shown[setting],
    attempt,
    ...(hint !== undefined && { hint }),
  })
  const options = <Value extends string>(
    values: readonly Value[],
    labels: Readonly<Record<Value, string>>,
  ) => values.map((value) => ({ value, label: labels[value] }))
  return html`${otherwise(shown, attempt)}
  ${form(visit, {
    action,
    submit: 'Save settings',
    hidden: { seen: seen ?? seenOf(tenant) },
    attempt,
    content: html`
      ${textField(field('name', 'Shown on the sign-in page.'))}
      ${selectField({ ...field('mode'), options: options(MODES, MODE_LABELS) })}
      ${linesField({ ...field('hostnames', 'One per line. Required unless in SDK mode.'), isOptional: true })}
      ${textField({ ...field('origin', 'Where the application runs, without a path. For example http://10.0.0.5:3000. In connector mode it only names the application: its connectors know the address.'), type: 'url' })}
      ${linesField({ ...field('sealed', 'Always return 404. One per line.'), isOptional: true })}
      ${linesField({ ...field('excluded', 'Open to everyone, without sign-in. One per line.'), isOptional: true })}
      ${textField(field('health', 'Where the application reports healthy, and answers probes.'))}
      ${textField(field('max_session_seconds', 'For example 8 h.'))}
      ${textField(field('idle_seconds', 'For example 15 min.'))}
      ${selectField({ ...field('session_binding', 'Applies when a session is used from another browser or network.'), options: POLICY_OPTIONS.session_binding })}
      ${textField(field('time_zone', 'For days and weeks in metrics and emails. For example Europe/Berlin.'))}
    `,
  })}`
}

/** Two spellings of one length of time are the same. */
function asShown(setting: Setting, typed: string): string {
  if (!setting.endsWith('_seconds')) return typed.replaceAll('\r\n', '\n')
  const seconds = parseDuration(typed)
  return seconds === undefined ? typed : durationText(seconds)
}

/** What was typed stays in the fields; here stands what is there instead. */
function otherwise(shown: Record<Setting, string>, attempt: Attempt | undefined): Html | string {
  if (attempt?.problem === undefined || attempt.isFine === true) return ''
  const others = (Object.keys(LABELS) as Setting[]).filter(
    (setting) => asShown(setting, attempt.values.get(setting) ?? '') !== shown[setting],
  )
  if (others.length === 0) return ''
  return notice(
    'info',
    'The saved values differ from your form:',
    html`<ul>
      ${others.map((setting) => html`<li>${LABELS[setting]}: ${shown[setting] === '' ? '(empty)' : shown[setting].replaceAll('\n', ', ')}</li>`)}
    </ul>`,
  )
}
