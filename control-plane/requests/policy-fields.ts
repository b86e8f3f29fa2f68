/** What each policy may hold. What is left out gets its default; of a session's lengths, its value. */
import * as v from 'valibot'
import { GROUP_NAME } from '../../shared/fleet/access-rules.ts'
import { LIMITS } from '../../shared/limits.ts'
import { SESSION_BINDINGS } from '../../shared/fleet/snapshot.ts'
import { DEVICE_FACTS } from '../../shared/device/facts.ts'
import { parseNetwork } from '../../shared/networks.ts'
import { readDomain } from '../connections/email-domain.ts'
import { isVersion } from '../policy/compliance.ts'
import {
  DEVICE_DEMANDS,
  DEVICE_KEY_DEMANDS,
  DEVICE_MODES,
  DEVICE_OWNERS,
  MFA_MODES,
  MFA_RISKS,
  ON_VIOLATION,
  PASSWORD_SIGN_INS,
  SIGN_UPS,
  UNKNOWN_FACTS,
  WHEN_FULL,
  type PolicyName,
} from '../policy/policies.ts'
import { flag, oneOf, whole } from './fields.ts'

const seconds = whole(1, LIMITS.sessionSecondsMax)
const DAY_SECONDS = 86_400

const OS_WISH = 'versions by operating system, like {"ubuntu": "24.04"}'
const OS_MANY = `at most ${LIMITS.deviceSystemsPerPolicyMax} operating systems`
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

const version = v.pipe(v.string(), v.check(isVersion, 'a version like 24.04 or 10.0.26100'))
const systems = v.pipe(
  v.record(v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9._-]{0,39}$/, OS_WISH)), version, OS_WISH),
  v.check((all) => Object.keys(all).length <= LIMITS.deviceSystemsPerPolicyMax, OS_MANY),
)
const people = v.pipe(
  v.array(
    v.pipe(v.string(), v.regex(/^[\w.:@-]{1,128}$/, 'IDs of users')),
    'a list of IDs of users',
  ),
  v.maxLength(LIMITS.deviceBreakGlassMax, `at most ${LIMITS.deviceBreakGlassMax} people`),
)
const DOMAIN_WISH = 'domains like example.com'
const domains = v.pipe(
  v.array(
    v.pipe(
      v.string(DOMAIN_WISH),
      v.check((value) => readDomain(value) !== undefined, DOMAIN_WISH),
    ),
    'a list of domains',
  ),
  v.maxLength(LIMITS.signUpDomainsMax, `at most ${LIMITS.signUpDomainsMax} domains`),
)
const GROUPS_WISH = 'a list of names of groups, each once'
const groups = v.pipe(
  v.array(v.pipe(v.string(GROUPS_WISH), v.regex(GROUP_NAME, GROUPS_WISH)), GROUPS_WISH),
  v.maxLength(LIMITS.signUpGroupsMax, `at most ${LIMITS.signUpGroupsMax} groups`),
  v.check((all) => isEachOnce(all), GROUPS_WISH),
)
const isEachOnce = <One>(all: One[]) => new Set(all).size === all.length
const facts = v.pipe(
  v.array(oneOf(DEVICE_FACTS), 'a list of facts'),
  v.check(isEachOnce, 'each fact once'),
)

/** What is answered: whole. */
export const POLICY_ANSWERS = {
  password: v.strictObject({
    sign_in: oneOf(PASSWORD_SIGN_INS),
    break_glass: people,
    email_sign_in: flag,
    sign_up: oneOf(SIGN_UPS),
    sign_up_domains: domains,
    sign_up_groups: groups,
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
      v.check(isEachOnce, 'each risk once'),
    ),
  }),
  network: v.strictObject({ allow: networks, deny: networks }),
  device: v.strictObject({
    require: oneOf(DEVICE_DEMANDS),
    notify_new: flag,
    mode: oneOf(DEVICE_MODES),
    grace_days: whole(0, LIMITS.deviceGraceDaysMax),
    owner: oneOf(DEVICE_OWNERS),
    approved: flag,
    key_storage: oneOf(DEVICE_KEY_DEMANDS),
    facts,
    unknown: oneOf(UNKNOWN_FACTS),
    min_os: systems,
    min_agent: v.nullable(version),
    fresh_hours: v.nullable(whole(1, LIMITS.deviceFreshHoursMax)),
    typed_code: flag,
    break_glass: people,
    on_violation: oneOf(ON_VIOLATION),
  }),
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
