import { DEVICE_FACTS, type DeviceFact, type Fact } from '../../../shared/device/facts.ts'
import type { JudgedDevice } from '../../../control-plane/policy/compliance.ts'
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
    device: { isKnown: true, isNetworkKnown: true },
    factors: [],
    proof: 'none',
    isStepUp: false,
    sessions: 0,
    ...others,
  }
}

/** A laptop on which everything is as it should be, except for what is named. */
export function machine({
  facts = {},
  os,
  ...others
}: Partial<Omit<JudgedDevice, 'posture'>> & {
  facts?: Partial<Record<DeviceFact, Fact>>
  os?: { id: string; version: string }
} = {}): JudgedDevice {
  const good = Object.fromEntries(
    DEVICE_FACTS.map((name) => [name, { value: true, reason: 'on' }]),
  ) as Record<DeviceFact, Fact>
  return {
    deviceId: 'dev_0123456789abcdef',
    userId: 'usr_ada',
    state: 'approved',
    platform: 'linux',
    keyStorage: 'tpm',
    agent: '1.4.0',
    enrolledAt: NOW * 1000 - 90 * 86_400_000,
    collectedAt: NOW * 1000 - 60_000,
    posture: { facts: { ...good, ...facts }, os: os ?? { id: 'ubuntu', version: '24.04' } },
    factsSince: {},
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
