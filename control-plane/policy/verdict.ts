/**
 * The shape of a sign-in policy: a pure function from what is known about one attempt to a verdict
 * with a reason. The realm loads the facts and acts on the verdict; a policy does neither.
 */

/** Levels of assurance as our tokens name them, weakest first. */
export const ACR_PASSWORD = 'aal1'

/** Every reason that a policy gives; the page, the log and the events use the same word. */
export const ATTEMPT_REASONS = ['password_needed', 'credentials_wrong', 'account_disabled'] as const
export type AttemptReason = (typeof ATTEMPT_REASONS)[number]

/** What a person can be asked for. */
export type SignInStep = 'password'

export type PasswordFact = 'not_given' | 'right' | 'wrong' | 'right_but_disabled'

export interface SignInFacts {
  readonly password: PasswordFact
}

export type Verdict =
  | { readonly kind: 'pass'; readonly amr?: readonly string[]; readonly acr?: string }
  | { readonly kind: 'ask'; readonly step: SignInStep; readonly reason: AttemptReason }
  | { readonly kind: 'refuse'; readonly reason: AttemptReason }

export type Policy = (facts: SignInFacts) => Verdict
