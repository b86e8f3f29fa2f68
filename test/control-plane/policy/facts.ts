import { DEFAULT_POLICIES } from '../../../control-plane/policy/policies.ts'
import type { Policies } from '../../../control-plane/policy/policies.ts'
import type { SignInFacts } from '../../../control-plane/policy/verdict.ts'

export const NOW = 1_800_000_000

/** Ada with the right password, at home, on her own browser, without a second factor. */
export function facts(others: Partial<SignInFacts> = {}): SignInFacts {
  return {
    at: NOW,
    address: '192.0.2.7',
    failures: { user: [], address: [], site: [] },
    password: 'right',
    passwordChangedAt: NOW - 1000,
    device: { isKnown: true, isEnrolled: false, isNetworkKnown: true },
    factors: [],
    proof: 'none',
    isStepUp: false,
    sessions: 0,
    ...others,
  }
}

type Others = { readonly [Name in keyof Policies]?: Partial<Policies[Name]> }

export function policies(others: Others = {}): Policies {
  const d = DEFAULT_POLICIES
  return {
    password: { ...d.password, ...others.password },
    lockout: { ...d.lockout, ...others.lockout },
    mfa: { ...d.mfa, ...others.mfa },
    network: { ...d.network, ...others.network },
    device: { ...d.device, ...others.device },
    session: { ...d.session, ...others.session },
  }
}
