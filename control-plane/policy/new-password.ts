import type { PasswordPolicy } from './policies.ts'

/** Why a password may not be chosen; the page and the API say it in a sentence. */
export type PasswordProblem =
  | 'password_too_short'
  | 'password_too_long'
  | 'password_too_weak'
  | 'password_breached'
  | 'password_used_before'

/** What was found out about a password that somebody wants to have. */
interface PasswordFindings {
  readonly characters: number
  /** 0 to 4 */
  readonly strength: number
  readonly isBreached: boolean
  readonly isUsedBefore: boolean
}

export function newPassword(
  { characters, strength, isBreached, isUsedBefore }: PasswordFindings,
  policy: PasswordPolicy,
): PasswordProblem | undefined {
  if (characters < policy.min_length) return 'password_too_short'
  if (policy.refuse_breached && isBreached) return 'password_breached'
  if (strength < policy.min_strength) return 'password_too_weak'
  if (policy.history > 0 && isUsedBefore) return 'password_used_before'
  return undefined
}
