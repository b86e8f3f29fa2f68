/** What one request has led to; `show-outcome.ts` makes the answer of it. */
import type { DevicePlatform } from '../../../shared/device/facts.ts'
import type { User } from '../../accounts/users.ts'
import type { Failing } from '../../policy/compliance.ts'
import type { PasswordProblem } from '../../policy/new-password.ts'
import type { AttemptReason, FactorKind, RefusalReason } from '../../policy/verdict.ts'
import type { AttemptState } from './attempt-state.ts'

/** What follows after the password. */
export const LATER_STEPS = ['device', 'second_factor', 'enrol', 'new_password'] as const
export type LaterStep = (typeof LATER_STEPS)[number]

export type Outcome =
  | {
      readonly kind: 'signed_in'
      /** By which the browser is known from now on. */
      readonly deviceCookie: string
      /** The session of this browser that the new one takes the place of. */
      readonly replaced?: string | undefined
    }
  | {
      readonly kind: 'refused'
      readonly reason: RefusalReason
      readonly until?: number
      readonly device?: DeviceView | undefined
    }
  | {
      readonly kind: 'password'
      readonly problem: AttemptReason
      readonly username?: string
    }
  | ({
      readonly kind: 'step'
      readonly step: LaterStep
      readonly device?: DeviceView | undefined
      /** Undefined where the page has not been answered yet. */
      readonly problem?: AttemptReason | PasswordProblem | 'busy' | undefined
    } & AskedPerson)
  /** New recovery codes, which are seen once. */
  | { readonly kind: 'recovery_codes'; readonly codes: readonly string[] }
  /** The password was given in another browser. */
  | { readonly kind: 'other_browser' }
  /** Another tab has signed in. */
  | { readonly kind: 'go_on' }
  /** Came in so often lately that it has to wait. */
  | { readonly kind: 'too_often'; readonly waitSeconds: number }
  | { readonly kind: 'busy'; readonly username: string }
  | { readonly kind: 'unavailable' | 'directory_down' | 'account_unusable' }

/** For the log: the same words as the events have. */
export function reasonOf(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'refused':
      return outcome.reason
    case 'password':
      return outcome.problem
    case 'step':
      return outcome.problem ?? outcome.step
    default:
      return outcome.kind
  }
}

/** What is shown of the machine that a sign-in comes from. */
export interface DeviceView {
  /** Nothing where it has not been proven yet. */
  readonly failing: readonly Failing[]
  readonly platform: DevicePlatform
  /** Epoch milliseconds. */
  readonly graceUntil?: number | undefined
  /** The policy only warns. */
  readonly mayGoOn: boolean
  /** A code from the agent is accepted. */
  readonly mayType: boolean
}

interface AskedPerson {
  readonly state: AttemptState
  readonly user: User
  readonly factors: readonly FactorKind[]
}

/** Of what comes of a mail. `asked`: so it was, whatever comes of it. `over`: another one has to be asked for. */
export type MailOutcome =
  | Outcome
  | {
      readonly kind:
        | 'asked'
        | 'mail_over'
        | 'mail_wrong'
        | 'mail_off'
        | 'mail_enough'
        | 'login_missing'
    }
  | { readonly kind: 'mail_wait'; readonly waitSeconds: number }
  | { readonly kind: 'client_wait'; readonly waitSeconds: number }
