/** What each setting of a policy is called, and how its values are written: in forms and in what changed. */
import { LIMITS } from '../../../../shared/limits.ts'
import type { Policies, PolicyName } from '../../../policy/policies.ts'
import type { Option } from '../../../pages/blocks/field.ts'
import type { Difference } from '../../blocks/diff.ts'
import { DAY_SECONDS, durationText, HOUR_SECONDS } from '../../durations.ts'

export const POLICY_LABELS: {
  readonly [Name in PolicyName]: { readonly [Field in keyof Policies[Name]]: string }
} = {
  password: {
    sign_in: 'Who can sign in with a password',
    break_glass: 'Emergency access',
    email_sign_in: 'Let people sign in with an email',
    sign_up: 'Who can create an account',
    sign_up_domains: 'Email domains for new accounts',
    sign_up_groups: 'Groups of new accounts',
    min_length: 'Minimum length',
    min_strength: 'Minimum strength',
    refuse_breached: 'Reject passwords found in data breaches',
    history: 'Password history',
    max_age_days: 'Password expiry',
  },
  lockout: {
    user_failures: 'Failed sign-ins per account',
    address_failures: 'Failed sign-ins per address',
    window_seconds: 'Counting window',
    pause_seconds: 'First lockout',
  },
  mfa: {
    mode: 'Second factor',
    risks: 'Risks',
  },
  network: {
    allow: 'Allow only',
    deny: 'Block',
  },
  device: {
    require: 'Which browsers',
    notify_new: 'Email people when a new browser signs in',
    mode: 'When a device fails a requirement',
    grace_days: 'Grace period',
    owner: 'Whose devices',
    approved: 'An administrator must approve each device',
    key_storage: 'Device key',
    facts: 'Required on the device',
    unknown: 'If the device can’t tell',
    min_os: 'Minimum operating system versions',
    min_agent: 'Minimum agent version',
    fresh_hours: 'Maximum age of the report',
    typed_code: 'Accept a code from the agent, typed at sign-in',
    break_glass: 'Emergency access',
    on_violation: 'When a device no longer complies',
  },
  session: {
    max_session_seconds: 'Maximum session length',
    idle_seconds: 'Idle timeout',
    session_binding: 'If the browser or network changes',
    concurrent_max: 'Sessions per person',
    when_full: 'When the limit is reached',
  },
}

export const POLICY_OPTIONS = {
  sign_in: [
    { value: 'everyone', label: 'Everyone' },
    { value: 'break_glass', label: 'Only emergency access: everyone else uses a connection' },
  ],
  sign_up: [
    { value: 'off', label: 'Only administrators' },
    { value: 'approval', label: 'Anyone, after approval' },
    { value: 'open', label: 'Anyone with a confirmed email address' },
  ],
  min_strength: [
    '0: any password',
    '1: not the most common',
    '2: resists online guessing',
    '3: hard to guess',
    '4: very hard to guess',
  ].map((label, value) => ({ value: String(value), label })),
  mode: [
    { value: 'off', label: 'Off: never asked for' },
    { value: 'optional', label: 'Optional: for people who have set one up' },
    { value: 'on_risk', label: 'On risk: for everyone, when a risk below applies' },
    { value: 'required', label: 'Required: for everyone, at every sign-in' },
  ],
  risks: [
    { value: 'new_device', label: 'New browser for this account' },
    {
      value: 'new_network',
      label: 'New network for this person',
    },
  ],
  require: [
    { value: 'any', label: 'Any browser' },
    { value: 'known', label: 'New browsers need a second factor' },
    { value: 'enrolled', label: 'Only devices with our agent' },
  ],
  device_mode: [
    { value: 'off', label: 'Ignore it: devices are not checked' },
    { value: 'report', label: 'Report it: devices are not checked at sign-in' },
    { value: 'warn', label: 'Warn: people can continue' },
    { value: 'enforce', label: 'Enforce: refuse the sign-in' },
  ],
  owner: [
    { value: 'anyone', label: 'Any enrolled device' },
    { value: 'own', label: 'Only the person’s own devices' },
  ],
  key_storage: [
    { value: 'any', label: 'In the TPM or in a file' },
    { value: 'tpm', label: 'Only in the TPM' },
  ],
  facts: [
    { value: 'disk_encrypted', label: 'Disk encrypted' },
    { value: 'up_to_date', label: 'Updates installed' },
    { value: 'firewall', label: 'Firewall on' },
    { value: 'screen_lock', label: 'Screen lock on' },
    { value: 'secure_boot', label: 'Secure Boot on' },
    { value: 'tpm', label: 'TPM present' },
  ],
  unknown: [
    { value: 'fail', label: 'Counts as failed' },
    { value: 'pass', label: 'Counts as passed' },
  ],
  on_violation: [
    { value: 'nothing', label: 'Existing sessions continue' },
    { value: 'ask_again', label: 'Check the device again' },
    { value: 'end_sessions', label: 'End the sessions of the device' },
  ],
  session_binding: [
    { value: 'off', label: 'Session continues' },
    { value: 'step_up', label: 'Sign in again with a second factor' },
    { value: 'terminate', label: 'End the session everywhere' },
  ],
  when_full: [
    { value: 'end_oldest', label: 'End the oldest session' },
    { value: 'refuse', label: 'Refuse the new sign-in' },
  ],
} as const satisfies Readonly<Record<string, readonly Option[]>>

/** What an empty field means. */
const NOTHING: Readonly<Record<string, string>> = {
  max_age_days: 'Never',
  min_agent: 'Any version',
  fresh_hours: 'Any age',
  concurrent_max: `Maximum of ${LIMITS.sessionsPerPersonMax}`,
}

function written(name: string, value: unknown, policy: string): unknown {
  const field = policy === 'device' && name === 'mode' ? 'device_mode' : name
  if (Array.isArray(value)) return value.map((item) => written(name, item, policy))
  if (value === null) return NOTHING[field] ?? value
  if (field === 'grace_days' && value === 0) return 'None'
  if (typeof value === 'number' && field.endsWith('_seconds')) return durationText(value)
  if (typeof value === 'number' && field.endsWith('_days')) return durationText(value * DAY_SECONDS)
  if (typeof value === 'number' && field.endsWith('_hours'))
    return durationText(value * HOUR_SECONDS)
  const options: readonly Option[] = Object.hasOwn(POLICY_OPTIONS, field)
    ? POLICY_OPTIONS[field as keyof typeof POLICY_OPTIONS]
    : []
  return (
    options.find((option) => option.value === (typeof value === 'number' ? `${value}` : value))
      ?.label ?? value
  )
}

/** What has changed, as the form writes it; of an older version a field may have gone since. */
export function inPolicyWords(policy: string, changed: readonly Difference[]): Difference[] {
  const labels: Readonly<Record<string, string>> = Object.hasOwn(POLICY_LABELS, policy)
    ? POLICY_LABELS[policy as PolicyName]
    : {}
  return changed.map(({ name, from, to, ...rest }) => ({
    ...rest,
    name: labels[name] ?? name,
    ...(from !== undefined && { from: written(name, from, policy) }),
    ...(to !== undefined && { to: written(name, to, policy) }),
  }))
}
