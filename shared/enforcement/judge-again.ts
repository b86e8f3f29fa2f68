/**
 * Whoever was let in and still has something open is judged again by the state of now: what would a
 * request like theirs meet?
 */
import {
  decide,
  type Judged,
  type MachineVerdict,
  type Outcome,
  type SessionVerdict,
  type TenantRules,
} from './decide.ts'
import type { MachinePass } from './machines.ts'
import { NO_SESSION } from './read-session.ts'
import { judgeSession, type RevokedView, type SessionRules } from './session.ts'
import type { TokenProof } from './token-proofs.ts'
import type { TokenTrust } from './token.ts'

interface JudgedTenant extends TenantRules {
  readonly trust: TokenTrust
  readonly sessionRules: SessionRules
}

interface StillOpenFacts {
  readonly host: string
  readonly method: string
  readonly methodOverrides: readonly string[]
  readonly path: string
  readonly clientAddress: string
  /** Who was named to the application. */
  readonly session: Pick<TokenProof, 'token' | 'claims'> | undefined
  /** Of a machine: the secret that it came in by, while there is no session. */
  readonly machine: MachinePass | undefined
  /** When the session was last in use, by this or by another request. */
  readonly usedSeconds: number
  /** Its client as it was bound and as it is; the same while the binding is the same. */
  readonly boundTo: string
  readonly fingerprint: string
  /** The state that it was last let in by, when that was, and the one of now. Infinity: it has an end of its own. */
  readonly allowedBy: JudgedTenant
  readonly allowedSeconds: number
  readonly tenant: JudgedTenant
  readonly revoked: RevokedView
  readonly nowSeconds: number
  /** False: of its session alone for now, since there are many whose paths are to be judged. */
  readonly isPathDue?: boolean
}

/** Its path is to be judged anew: by other rules, or as a rule asks for a proof that is younger by now. */
export function isOutdated({
  tenant,
  allowedBy,
  session,
  allowedSeconds,
  nowSeconds,
}: Pick<
  StillOpenFacts,
  'tenant' | 'allowedBy' | 'session' | 'allowedSeconds' | 'nowSeconds'
>): boolean {
  if (tenant !== allowedBy) return true
  if (session === undefined || tenant.access === undefined) return false
  return tenant.access.outgrownAt(session.claims.authTime, allowedSeconds + 1) <= nowSeconds
}

/** Undefined where it would be let in. */
export function judgeAgain(facts: StillOpenFacts): Outcome<never> | undefined {
  const { session, machine, tenant, allowedBy } = facts
  if (machine !== undefined) {
    const standing = tenant.services?.standing(machine, facts.nowSeconds)
    const reason = tenant.services === undefined ? 'machine_unknown' : standing
    if (reason !== undefined) return { kind: 'refuse', reason, status: 401 }
  } else if (session !== undefined) {
    const reason = isStillTrusted(session.token, allowedBy.trust, tenant.trust)
      ? judgeOpenSession(session, facts)
      : 'key_unknown'
    // Even where none is needed: the application was told whose this is.
    if (reason !== undefined) return { kind: 'sign_in', reason }
  }
  if (facts.isPathDue === false || !isOutdated(facts)) return undefined
  const { host, method, methodOverrides, path, clientAddress, nowSeconds } = facts
  const readSession = (): SessionVerdict<Pick<TokenProof, 'claims'>> =>
    session === undefined ? NO_SESSION : validAs(session)
  const readMachine = (): MachineVerdict<Pick<TokenProof, 'claims'>> =>
    session === undefined || machine === undefined
      ? { kind: 'refused', reason: 'machine_unknown' }
      : { kind: 'known', session, pass: machine }
  const machineBrings = machine === undefined ? undefined : 'secret'
  const request = { host, method, methodOverrides, path, clientAddress } as const
  const asked = { ...request, nowSeconds, machineBrings } as const
  const outcome = decide(tenant, { ...LET_IN, ...asked, readSession, readMachine })
  return outcome.kind === 'forward' ? undefined : outcome
}

function judgeOpenSession({ claims }: Pick<TokenProof, 'claims'>, facts: StillOpenFacts) {
  const { usedSeconds, boundTo, fingerprint, nowSeconds, tenant, revoked } = facts
  const seen = { seconds: usedSeconds, fingerprint: boundTo }
  const reason = judgeSession(
    { claims, seen, fingerprint, nowSeconds },
    tenant.sessionRules,
    revoked,
  )
  // nobody has come from elsewhere: the setting is another
  return reason === 'binding_terminate' ? 'binding_step_up' : reason
}

/** What was judged when it began, and cannot change. */
const LET_IN = {
  isNavigation: false,
  isUpgrade: false,
  isFromOwnOrigin: true,
  isStateLost: false,
  isNetworkUnknown: false,
} as const satisfies Partial<Judged<never>>

function validAs(session: Pick<TokenProof, 'claims'>) {
  return { kind: 'valid', session, cookies: [], isSeenDue: false } as const
}

/** The proof was made with a key that the tenant still has, and for the same two names. */
function isStillTrusted(token: string, before: TokenTrust, now: TokenTrust): boolean {
  if (before === now) return true
  if (before.issuer !== now.issuer || before.audience !== now.audience) return false
  const kid = kidOf(token)
  const [keyBefore, keyNow] = [before.keys.get(kid), now.keys.get(kid)]
  return keyBefore !== undefined && keyNow !== undefined && keyBefore.equals(keyNow)
}

function kidOf(token: string): string {
  const header = Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString()
  return (JSON.parse(header) as { kid: string }).kid
}
