/**
 * Who may open what, by rules that are in force, have been, or are only thought of. Pure: it asks the
 * very core that gateways and middlewares ask, with what would be known of a request.
 */
import type { AccessFacts } from '../../shared/enforcement/access-clauses.ts'
import {
  compileAccess,
  type AccessAsked,
  type AccessJudge,
  type Explanation,
} from '../../shared/enforcement/access-rules.ts'
import {
  decide,
  type Judged,
  type Outcome,
  type TenantRules,
} from '../../shared/enforcement/decide.ts'
import { compileExcluded, compileSealed } from '../../shared/enforcement/path.ts'
import type { TokenClaims } from '../../shared/enforcement/token.ts'
import type { AccessRules } from '../../shared/fleet/access-rules.ts'
import type { Tenant } from '../store/queries/tenants.ts'
import { groupBits } from './group-slots.ts'
import { predicatesIn, toldSlots } from './rule-predicates.ts'

/** Whom a question is about: a person, or a machine. */
export interface Asker {
  /** Their groups and attributes, as far as they have a bit (`rule-predicates.ts`). */
  readonly held: ReadonlySet<string>
  readonly serviceId?: string | undefined
  /** '' where it is left open: no network is known to have it. */
  readonly address: string
  readonly isStrong: boolean
  readonly signedInSecondsAgo: number
}

export interface Answered {
  readonly outcome: Outcome<unknown>
  /** undefined: it did not come to the rules. */
  readonly explanation: Explanation | undefined
}

interface AccessQuestions {
  /** As a request would be answered. */
  ask(asked: AccessAsked, asker: Asker): Answered
  /** The rules alone: does it open, would it with a second factor, or not at all? */
  judge(asked: AccessAsked, asker: Asker): 'open' | 'asked' | 'refused'
}

type OfTenant = Pick<Tenant, 'sealed' | 'excluded'>

/** Of no importance but that nobody has signed in before it. */
const NOW_SECONDS = 4_000_000_000

export function askAccess({ rules, networks }: AccessRules, tenant: OfTenant): AccessQuestions {
  const slots = [...predicatesIn(rules)].map((group, slot) => ({ slot, since: 1, group }))
  const excluded = compileExcluded(tenant.excluded)
  const access: AccessJudge | undefined =
    rules.length === 0
      ? undefined
      : compileAccess({ rules, ...toldSlots(slots), ...(networks && { networks }) }, excluded)
  const enforced: TenantRules = {
    status: 'published',
    protection: 'on',
    sealed: compileSealed(tenant.sealed),
    excluded,
    access,
    services: SOME_MACHINES,
  }
  const tabled = slots.map((slot) => ({ ...slot, freeFrom: null }))
  const bits = (held: ReadonlySet<string>) =>
    Buffer.from(groupBits(tabled, held), 'base64url') as Uint8Array

  const factsOf = (asker: Asker): AccessFacts => ({
    clientAddress: asker.address,
    nowSeconds: NOW_SECONDS,
    authTime: NOW_SECONDS - asker.signedInSecondsAgo,
    isStrong: asker.isStrong,
    groupBits: bits(asker.held),
    groupsVersion: 1,
    serviceId: asker.serviceId,
  })

  return {
    ask(asked, asker) {
      const facts = factsOf(asker)
      const outcome = decide(enforced, requestOf(asked, asker, claimsOf(facts, asker)))
      const isByRules =
        (outcome.kind === 'forward' && outcome.reason !== 'excluded') ||
        outcome.kind === 'sign_in' ||
        (outcome.kind === 'refuse' && BY_RULES.has(outcome.reason))
      if (!isByRules) return { outcome, explanation: undefined }
      const kind = asker.serviceId === undefined ? 'unruled' : 'closed'
      return { outcome, explanation: access?.explain(asked, facts) ?? { kind, rules: [] } }
    },
    judge(asked, asker) {
      if (access === undefined) return asker.serviceId === undefined ? 'open' : 'refused'
      const verdict = access.judge(asked, factsOf(asker))
      if (verdict.kind === 'allowed') return 'open'
      return verdict.kind === 'denied' && verdict.isStrengthMissing ? 'asked' : 'refused'
    },
  }
}

const BY_RULES: ReadonlySet<string> = new Set(['rule_denied', 'machine_not_allowed'])

/** Which machines there are does not matter here: who is asked about is one of them, or none. */
const SOME_MACHINES: TenantRules['services'] = {
  know: () => 'machine_unknown',
  admit: () => 'machine_unknown',
  standing: () => undefined,
}

/** A token of this moment: it says all that there is to say. */
function claimsOf(facts: AccessFacts, { isStrong, serviceId }: Asker): TokenClaims {
  const { nowSeconds, authTime, groupBits: bits, groupsVersion } = facts
  const times = { iat: nowSeconds, exp: nowSeconds + 3600, nbf: nowSeconds, authTime }
  const how = { acr: isStrong ? 'aal2' : 'aal1', amr: [] }
  const who = { sub: serviceId ?? '', sid: '', email: '', name: '', serviceId }
  return { ...who, ...times, ...how, groupBits: bits, groupsVersion }
}

function requestOf(
  asked: AccessAsked,
  { address, serviceId }: Asker,
  claims: TokenClaims,
): Judged<{ readonly claims: TokenClaims }> {
  const session = { claims }
  return {
    ...asked,
    methodOverrides: [],
    clientAddress: address,
    nowSeconds: NOW_SECONDS,
    isNavigation: true,
    isUpgrade: false,
    isFromOwnOrigin: true,
    isStateLost: false,
    isNetworkUnknown: false,
    readSession: () => ({ kind: 'valid', session, cookies: [], isSeenDue: false }),
    machineBrings: serviceId === undefined ? undefined : 'secret',
    readMachine: () => ({
      kind: 'known',
      session,
      pass: { serviceId: serviceId ?? '', secretId: '' },
    }),
  }
}
