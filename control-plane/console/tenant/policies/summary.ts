/** Each policy in a few facts, as they hold now. Pure. */
import { LIMITS } from '../../../../shared/limits.ts'
import type { Policies, PolicyName } from '../../../policy/policies.ts'
import { durationText } from '../../durations.ts'

type Facts = readonly (readonly [string, string])[]

const counted = (count: number, name: string) => `${count} ${name}${count === 1 ? '' : 's'}`
const yesNo = (is: boolean) => (is ? 'yes' : 'no')
const listed = (items: readonly string[], none: string) =>
  items.length === 0
    ? none
    : items.length <= 3
      ? items.join(', ')
      : `${items.slice(0, 3).join(', ')} and ${items.length - 3} more`

const PASSWORD_SIGN_INS = { everyone: 'everyone', break_glass: 'emergency access only' } as const
const SIGN_UPS = {
  off: 'by administrators',
  approval: 'by anyone, after approval',
  open: 'by anyone with a confirmed email',
} as const
const MODES = {
  off: 'off',
  optional: 'optional',
  required: 'required',
  on_risk: 'on risk',
} as const
const RISKS = { new_device: 'new browser', new_network: 'new network' } as const
const DEVICES = {
  any: 'any',
  known: 'new ones need a second factor',
  enrolled: 'only devices with our agent',
} as const
const DEVICE_MODES = {
  off: 'not checked',
  report: 'reported only',
  warn: 'people are warned',
  enforce: 'sign-in refused',
} as const
const DEVICE_FACTS = {
  disk_encrypted: 'disk encrypted',
  up_to_date: 'updates installed',
  firewall: 'firewall',
  screen_lock: 'screen lock',
  secure_boot: 'Secure Boot',
  tpm: 'TPM',
} as const
const BINDINGS = { off: 'continues', step_up: 'sign in again', terminate: 'ends' } as const

const SUMMARIES: { readonly [Name in PolicyName]: (policy: Policies[Name]) => Facts } = {
  password: ({
    sign_in,
    email_sign_in: isByEmail,
    sign_up: signUp,
    min_length: length,
    min_strength: strength,
    refuse_breached,
    max_age_days: age,
  }) => [
    ['Sign-in with a password', PASSWORD_SIGN_INS[sign_in]],
    ['Sign-in by email', isByEmail && sign_in === 'everyone' ? 'on' : 'off'],
    ['New accounts', sign_in === 'everyone' ? SIGN_UPS[signUp] : SIGN_UPS.off],
    ['Minimum length', counted(length, 'character')],
    ['Minimum strength', `${strength} of 4`],
    ['Found in data breaches', refuse_breached ? 'rejected' : 'accepted'],
    ['Expires', age === null ? 'never' : `after ${counted(age, 'day')}`],
  ],
  lockout: ({ user_failures: user, address_failures: address, window_seconds, pause_seconds }) => [
    ['Per account', counted(user, 'failure')],
    ['Per address', counted(address, 'failure')],
    ['Within', durationText(window_seconds)],
    ['First lockout', durationText(pause_seconds)],
  ],
  mfa: ({ mode, risks }) => [
    ['Second factor', MODES[mode]],
    ...(mode === 'on_risk'
      ? [
          [
            'Risks',
            listed(
              risks.map((risk) => RISKS[risk]),
              'none',
            ),
          ] as const,
        ]
      : []),
  ],
  network: ({ allow, deny }) => [
    ['Allowed', listed(allow, 'all')],
    ['Blocked', listed(deny, 'none')],
  ],
  device: ({ require: demand, notify_new, mode, facts }) => [
    ['Which browsers', DEVICES[demand]],
    ...(demand === 'enrolled'
      ? ([
          ['If a requirement fails', DEVICE_MODES[mode]],
          [
            'Required',
            listed(
              facts.map((one) => DEVICE_FACTS[one]),
              'the agent',
            ),
          ],
        ] as const)
      : []),
    ['Email about new browsers', yesNo(notify_new)],
  ],
  session: ({ max_session_seconds, idle_seconds, session_binding, concurrent_max: most }) => [
    ['Maximum length', durationText(max_session_seconds)],
    ['Idle timeout', durationText(idle_seconds)],
    ['In another browser', BINDINGS[session_binding]],
    ['Per person', String(most ?? LIMITS.sessionsPerPersonMax)],
  ],
}

export function summaryOf<Name extends PolicyName>(name: Name, policies: Policies): Facts {
  return SUMMARIES[name](policies[name])
}
