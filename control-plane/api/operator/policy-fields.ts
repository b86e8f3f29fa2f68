/** What each policy may hold. What is left out gets its default; of a session's lengths, its value. */
import * as v from 'valibot'
import { LIMITS } from '../../../shared/limits.ts'
import { SESSION_BINDINGS } from '../../../shared/snapshot.ts'
import { parseNetwork } from '../../policy/network.ts'
import {
  DEVICE_DEMANDS,
  MFA_MODES,
  MFA_RISKS,
  WHEN_FULL,
  type PolicyName,
} from '../../policy/policies.ts'

function whole(min: number, max: number) {
  const wish = `a whole number from ${min} to ${max}`
  return v.pipe(v.number(wish), v.integer(wish), v.minValue(min, wish), v.maxValue(max, wish))
}

const oneOf = <const Options extends readonly string[]>(options: Options) =>
  v.picklist(options, `one of ${options.join(', ')}`)

const flag = v.boolean('true or false')

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

export const POLICY_BODIES = {
  password: v.strictObject({
    min_length: v.optional(whole(LIMITS.passwordCharactersMin, 128)),
    min_strength: v.optional(whole(0, 4)),
    refuse_breached: v.optional(flag),
    history: v.optional(whole(0, LIMITS.passwordHistoryMax)),
    max_age_days: v.optional(v.nullable(whole(1, 3650))),
  }),
  lockout: v.strictObject({
    user_failures: v.optional(whole(1, 1000)),
    address_failures: v.optional(whole(1, 1000)),
    window_seconds: v.optional(whole(1, DAY_SECONDS)),
    pause_seconds: v.optional(whole(1, DAY_SECONDS)),
  }),
  mfa: v.strictObject({
    mode: v.optional(oneOf(MFA_MODES)),
    risks: v.optional(v.array(oneOf(MFA_RISKS), 'a list of risks')),
  }),
  network: v.strictObject({ allow: v.optional(networks), deny: v.optional(networks) }),
  device: v.strictObject({
    require: v.optional(oneOf(DEVICE_DEMANDS)),
    notify_new: v.optional(flag),
  }),
  session: v.strictObject({
    max_session_seconds: v.optional(seconds),
    idle_seconds: v.optional(seconds),
    session_binding: v.optional(oneOf(SESSION_BINDINGS)),
    concurrent_max: v.optional(v.nullable(whole(1, 1000))),
    when_full: v.optional(oneOf(WHEN_FULL)),
  }),
} as const satisfies Record<PolicyName, v.GenericSchema>
