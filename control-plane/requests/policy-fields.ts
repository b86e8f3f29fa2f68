/** What each policy may hold. What is left out gets its default; of a session's lengths, its value. */
import * as v from 'valibot'
import { LIMITS } from '../../shared/limits.ts'
import { SESSION_BINDINGS } from '../../shared/fleet/snapshot.ts'
import { parseNetwork } from '../../shared/networks.ts'
import {
  DEVICE_DEMANDS,
  MFA_MODES,
  MFA_RISKS,
  WHEN_FULL,
  type PolicyName,
} from '../policy/policies.ts'
import { flag, oneOf, whole } from './fields.ts'

const seconds = whole(1, LIMITS.sessionSecondsMax)
const DAY_SECONDS = 86_400

const NETWORK_WISH = 'addresses or networks like 192.0.2.0/24 and 2001:db8::/32'
const networks = v.pipe(
  v.array(
    v.pipe(
      v.string(NETWORK_WISH),
      v.check((value) => parseNetwork(value) !== undefined, NETWORK_WISH),
    ),
    'a list of networks',
  ),
  v.maxLength(LIMITS.networksPerPolicyMax, `at most ${LIMITS.networksPerPolicyMax} networks`),
)

/** What is answered: whole. */
export const POLICY_ANSWERS = {
  password: v.strictObject({
    min_length: whole(LIMITS.passwordCharactersMin, 128),
    min_strength: whole(0, 4),
    refuse_breached: flag,
    history: whole(0, LIMITS.passwordHistoryMax),
    max_age_days: v.nullable(whole(1, 3650)),
  }),
  lockout: v.strictObject({
    user_failures: whole(1, 1000),
    address_failures: whole(1, 1000),
    window_seconds: whole(1, DAY_SECONDS),
    pause_seconds: whole(1, DAY_SECONDS),
  }),
  mfa: v.strictObject({
    mode: oneOf(MFA_MODES),
    risks: v.pipe(
      v.array(oneOf(MFA_RISKS), 'a list of risks'),
      v.maxLength(MFA_RISKS.length, 'each risk once'),
    ),
  }),
  network: v.strictObject({ allow: networks, deny: networks }),
  device: v.strictObject({ require: oneOf(DEVICE_DEMANDS), notify_new: flag }),
  session: v.strictObject({
    max_session_seconds: seconds,
    idle_seconds: seconds,
    session_binding: oneOf(SESSION_BINDINGS),
    concurrent_max: v.nullable(whole(1, LIMITS.sessionsPerPersonMax)),
    when_full: oneOf(WHEN_FULL),
  }),
} as const satisfies Record<PolicyName, v.GenericSchema>

/** What is taken: any part of it. */
export const POLICY_BODIES = {
  password: v.partial(POLICY_ANSWERS.password),
  lockout: v.partial(POLICY_ANSWERS.lockout),
  mfa: v.partial(POLICY_ANSWERS.mfa),
  network: v.partial(POLICY_ANSWERS.network),
  device: v.partial(POLICY_ANSWERS.device),
  session: v.partial(POLICY_ANSWERS.session),
} as const satisfies Record<PolicyName, v.GenericSchema>
