/**
 * Sign-in as a state machine: every attempt is judged anew from its facts, so that a state is
 * never kept that a changed policy would not give again.
 */
import { password } from './password.ts'
import type { Policy, SignInFacts, AttemptReason, SignInStep } from './verdict.ts'

/** The order of asking: network, lockout, password, device, mfa, session. */
export const policies = [password] as const satisfies readonly Policy[]

export type SignInState =
  | { readonly kind: 'asking'; readonly step: SignInStep; readonly reason: AttemptReason }
  | { readonly kind: 'refused'; readonly reason: AttemptReason }
  | { readonly kind: 'signed_in'; readonly amr: readonly string[]; readonly acr: string }

/** The first policy that does not let the attempt pass decides; the strongest proof names the level. */
export function judge(facts: SignInFacts, asked: readonly Policy[] = policies): SignInState {
  const amr: string[] = []
  let acr = ''
  for (const policy of asked) {
    const verdict = policy(facts)
    if (verdict.kind === 'ask')
      return { kind: 'asking', step: verdict.step, reason: verdict.reason }
    if (verdict.kind === 'refuse') return { kind: 'refused', reason: verdict.reason }
    amr.push(...(verdict.amr ?? []))
    acr = verdict.acr ?? acr
  }
  return { kind: 'signed_in', amr, acr }
}
