import type { Verdict, SignInFacts } from './verdict.ts'
import { ACR_PASSWORD } from './verdict.ts'

/**
 * Does the person know the password of an account that may be used? A disabled account is asked
 * again like a wrong password, since a page that differs would say that the password was right.
 */
export function password({ password }: SignInFacts): Verdict {
  switch (password) {
    case 'not_given':
      return { kind: 'ask', step: 'password', reason: 'password_needed' }
    case 'wrong':
      return { kind: 'ask', step: 'password', reason: 'credentials_wrong' }
    case 'right_but_disabled':
      return { kind: 'ask', step: 'password', reason: 'account_disabled' }
    case 'right':
      return { kind: 'pass', amr: ['pwd'], acr: ACR_PASSWORD }
  }
}
