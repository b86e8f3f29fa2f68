import type { Policies } from './policies.ts'
import { ACR_PASSWORD, type SignInFacts, type Verdict } from './verdict.ts'

const DAY_SECONDS = 86_400

/**
 * Does the person know the password of an account that may be used? A disabled account is asked
 * again like a wrong password, since a page that differs would say that the password was right.
 * A password that is too old is replaced at the very end: by who has passed everything else.
 */
export function password(facts: SignInFacts, policies: Pick<Policies, 'password'>): Verdict {
  const { at, password, passwordChangedAt } = facts
  const { max_age_days: maxAgeDays } = policies.password
  switch (password) {
    case 'not_given':
      return { kind: 'ask', step: 'password', reason: 'password_needed' }
    case 'wrong':
      return { kind: 'ask', step: 'password', reason: 'credentials_wrong' }
    case 'right_but_disabled':
      return { kind: 'ask', step: 'password', reason: 'account_disabled' }
    case 'elsewhere':
      return { kind: 'pass', acr: ACR_PASSWORD }
    case 'mail_wrong':
      return { kind: 'ask', step: 'password', reason: 'email_code_wrong' }
    case 'mailed':
      return isMailOffered(policies) && facts.isConnecting !== true
        ? { kind: 'pass', amr: ['email'], acr: ACR_PASSWORD }
        : { kind: 'ask', step: 'password', reason: 'password_needed' }
    case 'right': {
      if (!mayUsePassword(facts, policies))
        return { kind: 'ask', step: 'password', reason: 'connection_required' }
      const proof = { kind: 'pass', amr: ['pwd'], acr: ACR_PASSWORD } as const
      const isOld =
        maxAgeDays !== null &&
        passwordChangedAt !== null &&
        at >= passwordChangedAt + maxAgeDays * DAY_SECONDS
      if (!isOld) return proof
      return { ...proof, finally: { step: 'new_password', reason: 'password_expired' } }
    }
  }
}

/**
 * Whoever connects an account shows both, its password and who they are at the provider. What
 * guards an emergency must not be set up by whoever has found a password: the factor is there.
 */
function mayUsePassword(facts: SignInFacts, policies: Pick<Policies, 'password'>): boolean {
  if (policies.password.sign_in === 'everyone') return true
  if (facts.isConnecting === true || facts.isTrial === true) return true
  return isBreakGlass(facts, policies) && facts.factors.length > 0
}

/** Where a connection is required, no other way goes around it. */
export function isMailOffered({ password }: Pick<Policies, 'password'>): boolean {
  return password.email_sign_in && password.sign_in === 'everyone'
}

/** Nor one into it: whom a provider has to bring makes no account here. */
export function isSignUpOpen({ password }: Pick<Policies, 'password'>): boolean {
  return password.sign_up !== 'off' && password.sign_in === 'everyone'
}

/** In an emergency, with a password where nobody else may use one: a second factor is asked for. */
export function isBreakGlass(
  { password, userId }: Pick<SignInFacts, 'password' | 'userId'>,
  { password: { sign_in, break_glass } }: Pick<Policies, 'password'>,
): boolean {
  if (sign_in === 'everyone' || password !== 'right') return false
  return userId !== undefined && break_glass.includes(userId)
}
