import type { Policies } from './policies.ts'
import { PASS, type SignInFacts, type Verdict } from './verdict.ts'

/** May this device be used at all? That a new one needs a second factor is for `mfa` to ask. */
export function device({ device }: SignInFacts, policies: Pick<Policies, 'device'>): Verdict {
  if (policies.device.require === 'enrolled' && !device.isEnrolled)
    return { kind: 'refuse', reason: 'device_not_enrolled' }
  return PASS
}

export function isSecondFactorDemanded(
  { device }: Pick<SignInFacts, 'device'>,
  policies: Pick<Policies, 'device'>,
): boolean {
  return policies.device.require === 'known' && !device.isKnown
}
