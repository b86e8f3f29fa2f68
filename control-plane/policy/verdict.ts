/**
 * The shape of a sign-in policy: a pure function from what is known about one attempt, and what
 * the administrator has decided, to a verdict with a reason. The realm loads the facts and acts on
 * the verdict; a policy does neither.
 */
import type { JudgedDevice } from './compliance.ts'
import type { Demanded } from './demanded.ts'
import type { Policies } from './policies.ts'

/** Levels of assurance as our tokens name them, weakest first. */
export const ACR_PASSWORD = 'aal1'
export const ACR_SECOND_FACTOR = 'aal2'

/**
 * Every reason that a policy gives, and `too_many_sign_ins`, which a rate gives where all of them
 * let the attempt pass; the page, the log and the events use the same word.
 */
export const ATTEMPT_REASONS = [
  'address_unreadable',
  'network_denied',
  'network_not_allowed',
  'user_paused',
  'address_blocked',
  'password_needed',
  'credentials_wrong',
  'account_disabled',
  'connection_required',
  'email_code_wrong',
  'password_expired',
  'device_proof_needed',
  'device_warning',
  'device_not_enrolled',
  'device_not_compliant',
  'second_factor_needed',
  'code_wrong',
  'enrolment_needed',
  'too_many_sessions',
  'too_many_sign_ins',
] as const
export type AttemptReason = (typeof ATTEMPT_REASONS)[number]

/** Of the device, beside a sign-in that was let in all the same. */
export const DEVICE_NOTES = [
  'device_break_glass',
  'device_proof_needed',
  'device_warning',
  'device_not_enrolled',
  'device_not_compliant',
] as const
export type DeviceNote = (typeof DEVICE_NOTES)[number]

/** Those that send somebody away; the others ask for something. */
export const REFUSALS = [
  'address_unreadable',
  'network_denied',
  'network_not_allowed',
  'user_paused',
  'address_blocked',
  'device_not_enrolled',
  'device_not_compliant',
  'too_many_sessions',
] as const satisfies readonly AttemptReason[]
export type RefusalReason = (typeof REFUSALS)[number]

/** What a person can be asked for. */
export type SignInStep = 'password' | 'device' | 'second_factor' | 'enrol' | 'new_password'

/**
 * What was given first. `elsewhere`: who it is was shown at a provider of the tenant; `mailed`: what was
 * sent to the address of the account came back, or (`mail_wrong`) something that was not.
 */
export type PasswordFact =
  | 'not_given'
  | 'right'
  | 'wrong'
  | 'right_but_disabled'
  | 'elsewhere'
  | 'mailed'
  | 'mail_wrong'
export type FactorKind = 'totp' | 'passkey' | 'recovery'

/** What is known about one attempt. Plain data, so that a replay can read it back. All times in epoch seconds. */
export interface SignInFacts {
  readonly at: number
  /** One spelling per address (a mapped one as IPv4); null where it cannot be read. */
  readonly address: string | null
  /** When others failed here before, oldest first: for this account, and from this address. */
  readonly failures: {
    readonly user: readonly number[]
    readonly address: readonly number[]
    /** From all networks of a site; none where an address is all that is counted. */
    readonly site: readonly number[]
  }
  readonly password: PasswordFact
  /** They have just shown at a provider who they are, and with this the account becomes theirs there. */
  readonly isConnecting?: boolean
  /** Our own, who tries whether the application can be signed in to. */
  readonly isTrial?: boolean
  /** null where nobody knows, as for passwords in a tenant's own database. */
  readonly passwordChangedAt: number | null
  readonly device: {
    /** The browser; what was recorded earlier has only these two. */
    readonly isKnown: boolean
    readonly isNetworkKnown: boolean
    /** The machine with our agent that the browser was proven to run on. */
    readonly enrolled?: JudgedDevice
    /** The person has said that there is no agent. */
    readonly isMissing?: boolean
    /** The person has read what is wrong with the device, and went on. */
    readonly isWarned?: boolean
    /** What the policy has demanded since when; never recorded. */
    readonly demanded?: readonly Demanded[]
    /** Recorded instead: since when the machine did not meet it, in epoch seconds. */
    readonly demandedSince?: number
    /** Where no proof was asked for: the device of theirs that was seen last; null: they had none. */
    readonly last?: JudgedDevice | null
  }
  /** Whose account; not there where nobody is meant, and in what was recorded earlier. */
  readonly userId?: string
  /** The factors that the person has enrolled. */
  readonly factors: readonly FactorKind[]
  /** Asked of this very person; not there in what was recorded earlier. */
  readonly isFactorRequired?: boolean
  readonly proof: FactorKind | 'none' | 'wrong'
  /** The provider has asked for a second factor, and its word for it is mapped. */
  readonly isFactorElsewhere?: boolean
  /** The application asked for more than a password (`acr_values`). */
  readonly isStepUp: boolean
  /** Sessions of this person that are alive. */
  readonly sessions: number
}

export type Verdict =
  | {
      readonly kind: 'pass'
      readonly amr?: readonly string[]
      readonly acr?: string
      /** Something that is still to be done, once every policy has let the attempt pass. */
      readonly finally?: { readonly step: SignInStep; readonly reason: AttemptReason }
    }
  | {
      readonly kind: 'ask'
      readonly step: SignInStep
      readonly reason: Exclude<AttemptReason, RefusalReason>
    }
  | { readonly kind: 'refuse'; readonly reason: RefusalReason; readonly until?: number }

export type Policy = (facts: SignInFacts, policies: Policies) => Verdict

export const PASS: Verdict = { kind: 'pass' }
