/**
 * What an administrator can decide, policy by policy, under the names that the operator API uses.
 * Whoever has decided nothing gets the defaults.
 */
import type { DeviceFact } from '../../shared/device/facts.ts'
import type { SessionBinding } from '../../shared/fleet/snapshot.ts'

export const POLICY_NAMES = ['password', 'lockout', 'mfa', 'network', 'device', 'session'] as const
export type PolicyName = (typeof POLICY_NAMES)[number]

/** break_glass: everybody else comes in by a connection. */
export const PASSWORD_SIGN_INS = ['everyone', 'break_glass'] as const

/** approval: an administrator decides about each. open: whoever has a proven address comes in. */
export const SIGN_UPS = ['off', 'approval', 'open'] as const

export interface PasswordPolicy {
  /** Who may sign in with one. */
  readonly sign_in: (typeof PASSWORD_SIGN_INS)[number]
  /** People who may when nobody else may, and then with a second factor that they have already. */
  readonly break_glass: readonly string[]
  /** A link and a code by mail let people in as well, where everybody may use a password. */
  readonly email_sign_in: boolean
  /** Whether people make an account themselves, where everybody may use a password. */
  readonly sign_up: (typeof SIGN_UPS)[number]
  /** With addresses of these domains alone; an empty list allows all. */
  readonly sign_up_domains: readonly string[]
  /** In which groups whoever makes an account is from the beginning. */
  readonly sign_up_groups: readonly string[]
  readonly min_length: number
  /** 0 to 4, as zxcvbn scores; 0 asks for nothing. */
  readonly min_strength: number
  /** Passwords on the operator's breach list are refused. */
  readonly refuse_breached: boolean
  /** How many earlier passwords may not come back. */
  readonly history: number
  /** null: a password is good for ever. */
  readonly max_age_days: number | null
}

export interface LockoutPolicy {
  readonly user_failures: number
  readonly address_failures: number
  readonly window_seconds: number
  /** The first pause; every further one within a day is twice as long. */
  readonly pause_seconds: number
}

export const MFA_MODES = ['off', 'optional', 'required', 'on_risk'] as const
export const MFA_RISKS = ['new_device', 'new_network'] as const

interface MfaPolicy {
  /** optional: who has enrolled a factor is asked for it. on_risk: at the risks below only. */
  readonly mode: (typeof MFA_MODES)[number]
  readonly risks: readonly (typeof MFA_RISKS)[number][]
}

export interface NetworkPolicy {
  /** CIDRs or addresses. An empty list allows everything that is not denied. */
  readonly allow: readonly string[]
  readonly deny: readonly string[]
}

export const DEVICE_DEMANDS = ['any', 'known', 'enrolled'] as const

/**
 * off: nobody is asked. report: nobody is asked, and what would have been is recorded. warn: asked and
 * told, and may go on. enforce: only who meets everything.
 */
export const DEVICE_MODES = ['off', 'report', 'warn', 'enforce'] as const
export const DEVICE_OWNERS = ['anyone', 'own'] as const
/** Where the key of the enrolment has to lie. */
export const DEVICE_KEY_DEMANDS = ['any', 'tpm'] as const
/** What a fact that nobody knows counts as. */
export const UNKNOWN_FACTS = ['pass', 'fail'] as const
/** What becomes of the sessions of a device that does not meet the policy any more. */
export const ON_VIOLATION = ['nothing', 'ask_again', 'end_sessions'] as const

export interface DevicePolicy {
  /** known: a new browser has to show a second factor. enrolled: only devices with our agent. */
  readonly require: (typeof DEVICE_DEMANDS)[number]
  /** A mail to the person when a browser signs in for the first time. */
  readonly notify_new: boolean
  // where it is `enrolled`:
  readonly mode: (typeof DEVICE_MODES)[number]
  /** So long what fails may be mended before it counts. */
  readonly grace_days: number
  /** own: each person signs in on devices of theirs alone. */
  readonly owner: (typeof DEVICE_OWNERS)[number]
  /** An administrator has to have approved the device. */
  readonly approved: boolean
  readonly key_storage: (typeof DEVICE_KEY_DEMANDS)[number]
  /** Those that have to be true. */
  readonly facts: readonly DeviceFact[]
  readonly unknown: (typeof UNKNOWN_FACTS)[number]
  /** By operating system, as os-release names it. What is not named may have any version. */
  readonly min_os: Readonly<Record<string, string>>
  readonly min_agent: string | null
  /** How old what the device says of itself may be; null: as old as it is. */
  readonly fresh_hours: number | null
  /** Where a browser cannot reach the agent a code is typed; people can be talked into giving it away. */
  readonly typed_code: boolean
  /** People who sign in without a device: the way back in for administrators. */
  readonly break_glass: readonly string[]
  readonly on_violation: (typeof ON_VIOLATION)[number]
}

export const WHEN_FULL = ['end_oldest', 'refuse'] as const

export interface SessionPolicy {
  readonly max_session_seconds: number
  readonly idle_seconds: number
  readonly session_binding: SessionBinding
  /** Sessions that one person may have at once; null is as many as anybody may have. */
  readonly concurrent_max: number | null
  readonly when_full: (typeof WHEN_FULL)[number]
}

export interface Policies {
  readonly password: PasswordPolicy
  readonly lockout: LockoutPolicy
  readonly mfa: MfaPolicy
  readonly network: NetworkPolicy
  readonly device: DevicePolicy
  readonly session: SessionPolicy
}

export const DEFAULT_POLICIES: Policies = {
  password: {
    sign_in: 'everyone',
    break_glass: [],
    email_sign_in: false,
    sign_up: 'off',
    sign_up_domains: [],
    sign_up_groups: [],
    min_length: 8,
    min_strength: 2,
    refuse_breached: true,
    history: 0,
    max_age_days: null,
  },
  lockout: { user_failures: 10, address_failures: 100, window_seconds: 900, pause_seconds: 900 },
  mfa: { mode: 'optional', risks: ['new_device', 'new_network'] },
  network: { allow: [], deny: [] },
  device: {
    require: 'any',
    notify_new: true,
    mode: 'enforce',
    grace_days: 0,
    owner: 'anyone',
    approved: false,
    key_storage: 'any',
    facts: [],
    unknown: 'fail',
    min_os: {},
    min_agent: null,
    fresh_hours: null,
    typed_code: false,
    break_glass: [],
    on_violation: 'nothing',
  },
  session: {
    max_session_seconds: 28_800,
    idle_seconds: 900,
    session_binding: 'off',
    concurrent_max: null,
    when_full: 'end_oldest',
  },
}
