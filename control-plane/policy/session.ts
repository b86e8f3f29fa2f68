import type { Policies } from './policies.ts'
import { PASS, type SignInFacts, type Verdict } from './verdict.ts'

/** Is there room for one more session of this person? */
export function session(
  { sessions }: SignInFacts,
  { session: { concurrent_max: most, when_full: whenFull } }: Pick<Policies, 'session'>,
): Verdict {
  if (most === null || sessions < most || whenFull === 'end_oldest') return PASS
  return { kind: 'refuse', reason: 'too_many_sessions' }
}
