import { isSecondFactorDemanded } from './device.ts'
import { isBreakGlass } from './password.ts'
import type { Policies } from './policies.ts'
import { ACR_SECOND_FACTOR, PASS, type FactorKind } from './verdict.ts'
import type { SignInFacts, Verdict } from './verdict.ts'

type Decided = Pick<Policies, 'mfa' | 'device' | 'password'>

/** RFC 8176: a one-time password, a key in the person's hands. */
const AMR: Readonly<Record<FactorKind, readonly string[]>> = {
  totp: ['otp', 'mfa'],
  recovery: ['otp', 'mfa'],
  passkey: ['hwk', 'mfa'],
}

/**
 * Is a second factor needed, and was it shown? Where one is needed and none has been enrolled, it
 * is enrolled now; that protects from the next sign-in on, and the mail about a new device tells
 * the person of this one.
 */
export function mfa(facts: SignInFacts, policies: Decided): Verdict {
  const { proof, factors } = facts
  if (proof !== 'none' && proof !== 'wrong')
    return { kind: 'pass', amr: AMR[proof], acr: ACR_SECOND_FACTOR }
  if (facts.isFactorElsewhere === true)
    return { kind: 'pass', amr: ['mfa'], acr: ACR_SECOND_FACTOR }
  const need = needOf(facts, policies)
  if (need === 'none') return PASS
  if (factors.length === 0)
    return need === 'if_enrolled'
      ? PASS
      : { kind: 'ask', step: 'enrol', reason: 'enrolment_needed' }
  const reason = proof === 'wrong' ? 'code_wrong' : 'second_factor_needed'
  return { kind: 'ask', step: 'second_factor', reason }
}

function needOf(facts: SignInFacts, policies: Decided): 'none' | 'if_enrolled' | 'always' {
  const { mode } = policies.mfa
  if (mode === 'required' || facts.isFactorRequired === true) return 'always'
  if (isSecondFactorDemanded(facts, policies) || isBreakGlass(facts, policies)) return 'always'
  if (mode === 'on_risk' && isRisky(facts, policies.mfa.risks)) return 'always'
  // The application may ask for more than the policy does, but nobody can be made to have a factor
  if (mode === 'optional' || facts.isStepUp) return 'if_enrolled'
  return 'none'
}

function isRisky({ device }: SignInFacts, risks: Policies['mfa']['risks']): boolean {
  if (risks.includes('new_device') && !device.isKnown) return true
  return risks.includes('new_network') && !device.isNetworkKnown
}
