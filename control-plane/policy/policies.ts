/**
 * What an administrator can decide, policy by policy, under the names that the operator API uses.
 * Whoever has decided nothing gets the defaults.
 */
import type { SessionBinding } from '../../shared/fleet/snapshot.ts'

export const POLICY_NAMES = ['password', 'lockout', 'mfa', 'network', 'device', 'session'] as const
export type PolicyName = (typeof POLICY_NAMES)[number]

export interface PasswordPolicy {
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

interface DevicePolicy {
  /** known: a new browser has to show a second factor. enrolled: only devices with our agent. */
  readonly require: (typeof DEVICE_DEMANDS)[number]
  /** A mail to the person when a browser signs in for the first time. */
  readonly notify_new: boolean
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
    min_length: 8,
    min_strength: 2,
    refuse_breached: true,
    history: 0,
    max_age_days: null,
  },
  lockout: { user_failures: 10, address_failures: 100, window_seconds: 900, pause_seconds: 900 },
  mfa: { mode: 'optional', risks: ['new_device', 'new_network'] },
  network: { allow: [], deny: [] },
  device: { require: 'any', notify_new: true },
  session: {
    max_session_seconds: 28_800,
    idle_seconds: 900,
    session_binding: 'off',
    concurrent_max: null,
    when_full: 'end_oldest',
  },
}
