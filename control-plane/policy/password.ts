import type { Policies } from './policies.ts'
import { ACR_PASSWORD, type SignInFacts, type Verdict } from './verdict.ts'

const DAY_SECONDS = 86_400

/**
 * Does the person know the password of an account that may be used? A disabled account is asked
 * again like a wrong password, since a page that differs would say that the password was right.
 * A password that is too old is replaced at the very end: by who has passed everything else.
 */
export function password(
  { at, password, passwordChangedAt }: SignInFacts,
  { password: { max_age_days: maxAgeDays } }: Pick<Policies, 'password'>,
): Verdict {
  switch (password) {
    case 'not_given':
      return { kind: 'ask', step: 'password', reason: 'password_needed' }
    case 'wrong':
      return { kind: 'ask', step: 'password', reason: 'credentials_wrong' }
    case 'right_but_disabled':
      return { kind: 'ask', step: 'password', reason: 'account_disabled' }
    case 'elsewhere':
      return { kind: 'pass', acr: ACR_PASSWORD }
    case 'right': {
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
