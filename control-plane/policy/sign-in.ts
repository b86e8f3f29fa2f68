/**
 * Sign-in as a state machine: every attempt is judged anew from its facts, so that a state is
 * never kept that a changed policy would not give again.
 */
import { device } from './device.ts'
import { lockout } from './lockout.ts'
import { mfa } from './mfa.ts'
import { network } from './network.ts'
import { password } from './password.ts'
import type { Policies } from './policies.ts'
import { session } from './session.ts'
import type { AttemptReason, Policy, RefusalReason, SignInFacts, SignInStep } from './verdict.ts'

const ORDER = [network, lockout, password, device, mfa, session] as const satisfies Policy[]

export type SignInState =
  | { readonly kind: 'asking'; readonly step: SignInStep; readonly reason: AttemptReason }
  | { readonly kind: 'refused'; readonly reason: RefusalReason; readonly until?: number }
  | { readonly kind: 'signed_in'; readonly amr: readonly string[]; readonly acr: string }

/** What is written down of an attempt: where all policies let it pass, a rate may not. */
export type RecordedState =
  | SignInState
  | { readonly kind: 'refused'; readonly reason: 'too_many_sign_ins' }

/** The first policy that does not let the attempt pass decides; the strongest proof names the level. */
export function judge(
  facts: SignInFacts,
  policies: Policies,
  order: readonly Policy[] = ORDER,
): SignInState {
  const amr: string[] = []
  let acr = ''
  let last: { readonly step: SignInStep; readonly reason: AttemptReason } | undefined
  for (const policy of order) {
    const verdict = policy(facts, policies)
    if (verdict.kind === 'ask')
      return { kind: 'asking', step: verdict.step, reason: verdict.reason }
    if (verdict.kind === 'refuse') {
      const { reason, until } = verdict
      return { kind: 'refused', reason, ...(until !== undefined && { until }) }
    }
    amr.push(...(verdict.amr ?? []))
    acr = verdict.acr ?? acr
    last ??= verdict.finally
  }
  if (last !== undefined) return { kind: 'asking', ...last }
  return { kind: 'signed_in', amr, acr }
}
