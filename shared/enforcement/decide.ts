/**
 * THE decision, for the gateway and for the middleware alike: whoever asks carries out what is
 * answered and adds nothing. The order is the design's: suspended, pass-through, sealed, the
 * service's own paths, excluded, session, access rules.
 */
import type { Protection, TenantStatus } from '../fleet/snapshot.ts'
import type { AllowClause } from '../fleet/access-rules.ts'
import { LIMITS } from '../limits.ts'
import type { ForwardReason, MachineReason, RefuseReason, SignInReason } from '../reasons.ts'
import { isStrong, type AccessJudge, type AccessVerdict } from './access-rules.ts'
import type { MachinePass, ServiceJudge } from './machines.ts'
import type { ExcludedMatcher, SealedMatcher } from './path.ts'
import type { TokenClaims } from './token.ts'

export interface TenantRules {
  readonly status: TenantStatus
  readonly protection: Protection
  readonly sealed: SealedMatcher
  readonly excluded: ExcludedMatcher
  /** Undefined: whoever is signed in may open everything. */
  readonly access: AccessJudge | undefined
  /** Undefined: it has no machines, and what says that it is one is taken out and not looked at. */
  readonly services: ServiceJudge | undefined
}

const SERVICE_ENDPOINTS = ['login', 'callback', 'logout', 'me'] as const
export type ServiceEndpoint = (typeof SERVICE_ENDPOINTS)[number]

/** What the caller found out about the session of this request. */
export type SessionVerdict<Session> =
  | {
      readonly kind: 'valid'
      readonly session: Session
      /** Values of Set-Cookie that its browser is due. */
      readonly cookies: readonly string[]
      /** The companion cookie among them: the session is in use, which is told so often and no more. */
      readonly isSeenDue: boolean
    }
  | { readonly kind: 'invalid'; readonly reason: SignInReason }

/** By what a request says that a machine sends it, whatever that is worth; undefined: it does not. */
export type MachineBrings = 'secret' | 'token' | undefined

/** What the caller found out about the machine that sent this request. */
export type MachineVerdict<Session> =
  | { readonly kind: 'known'; readonly session: Session; readonly pass: MachinePass }
  | {
      readonly kind: 'refused'
      readonly reason: MachineReason | 'state_lost'
      /** It may be of a key that is newer than what we have. */
      readonly isKeyUnknown?: boolean
    }

/** What is asked of a request, and only where it matters: a sealed path costs no signature check. */
export interface Judged<Session> {
  readonly host: string
  readonly method: string
  /** Other methods that its headers name, as they came: frameworks may do those instead. */
  readonly methodOverrides: readonly string[]
  readonly path: string
  readonly clientAddress: string
  readonly nowSeconds: number
  /** A person opens a page, and can be sent away to come back. */
  readonly isNavigation: boolean
  /** It asks for another protocol, a WebSocket, and can get it here. */
  readonly isUpgrade: boolean
  /** No page of another site asked for this. */
  readonly isFromOwnOrigin: boolean
  /** Nobody has told us for too long who may still come in. */
  readonly isStateLost: boolean
  /** Sessions are bound to their network, and this request's is not to be told. */
  readonly isNetworkUnknown: boolean
  readSession(): SessionVerdict<Session>
  readonly machineBrings: MachineBrings
  /** Asked only where it brings something. */
  readMachine(): MachineVerdict<Session>
}

export interface Forward<Session> {
  readonly kind: 'forward'
  readonly reason: ForwardReason
  /** Who is named to the application. */
  readonly session: Session | undefined
  /** Of a machine: by which of its secrets it came in. With `tokenEndsAt`, Authorization is for us alone. */
  readonly machine?: MachinePass | undefined
  /** Values of Set-Cookie, for an answer that no shared cache may store; else left out. */
  readonly cookies: readonly string[]
  readonly isSeenDue: boolean
  /** A page of another site asked: nobody is named, and `service_session` does not go on. */
  readonly isForeignPage: boolean
}

export type Outcome<Session> =
  | Forward<Session>
  | { readonly kind: 'service'; readonly endpoint: ServiceEndpoint }
  | {
      readonly kind: 'sign_in'
      readonly reason: SignInReason
      /** Where a rule asks for it: how many seconds ago the proof may lie at most. */
      readonly maxAge?: number | undefined
    }
  | {
      readonly kind: 'refuse'
      readonly reason: RefuseReason
      readonly status: RefusedStatus
      /** The clauses of which one would have opened the path. */
      readonly ways?: readonly AllowClause[]
      readonly isKeyUnknown?: boolean | undefined
    }

export type RefusedStatus = 400 | 401 | 403 | 404 | 429 | 503

const SUSPENDED = { kind: 'refuse', reason: 'suspended', status: 503 } as const
const SEALED = { kind: 'refuse', reason: 'sealed', status: 404 } as const
const UNREADABLE = { kind: 'refuse', reason: 'path_unreadable', status: 400 } as const
const ORIGIN_FOREIGN = { kind: 'refuse', reason: 'origin_foreign', status: 403 } as const
const RULE_DENIED = { kind: 'refuse', reason: 'rule_denied', status: 403 } as const
const STATE_LOST = { kind: 'refuse', reason: 'state_lost', status: 503 } as const
const CLIENT_UNREADABLE = { kind: 'refuse', reason: 'client_unreadable', status: 503 } as const
const ENDPOINT_BY_PATH: ReadonlyMap<string, ServiceEndpoint> = new Map(
  SERVICE_ENDPOINTS.map((endpoint) => [`/service/${endpoint}`, endpoint]),
)
/** Its own, and as many more as anybody has use for. */
const METHODS_MAX = 4
/** In which these may be repeated; a head has room for thousands. */
const METHOD_WORDS_MAX = 64
const SEPARATORS = /[\s,;]+/
const NO_COOKIES: readonly string[] = []

/** Whose session it is, as far as a decision looks at that. */
interface WithClaims {
  readonly claims: TokenClaims
}

export function decide<Session extends WithClaims>(
  rules: TenantRules,
  request: Judged<Session>,
): Outcome<Session> {
  if (rules.status === 'suspended') return SUSPENDED
  const { path } = request
  const endpoint = path.startsWith('/service/') ? ENDPOINT_BY_PATH.get(path) : undefined
  if (rules.protection === 'pass-through') {
    if (endpoint !== undefined) return serve(endpoint, request)
    return request.isStateLost ? STATE_LOST : letIn('pass_through', rules, request)
  }
  const sealed = rules.sealed(path)
  if (sealed === 'sealed') return SEALED
  if (sealed === 'unreadable') return UNREADABLE
  if (endpoint !== undefined) return serve(endpoint, request)
  if (rules.excluded(path) && rules.access?.isRuled(request, true) !== true)
    return letIn('excluded', rules, request)
  if (request.isStateLost) return STATE_LOST
  if (rules.services !== undefined && request.machineBrings !== undefined)
    return decideMachine(rules, request)
  const verdict = request.readSession()
  if (verdict.kind === 'valid')
    return barOf(rules.access, request, verdict.session) ?? admit('session', request, verdict)
  if (request.isNetworkUnknown) return CLIENT_UNREADABLE
  return { kind: 'sign_in', reason: verdict.reason }
}

/** Never sent to sign in: there is nobody to do that. */
function decideMachine<Session extends WithClaims>(
  { access }: TenantRules,
  request: Judged<Session>,
): Outcome<Session> {
  const verdict = request.readMachine()
  if (verdict.kind === 'refused') return refuseMachine(verdict.reason, verdict.isKeyUnknown)
  const { session, pass } = verdict
  return access === undefined
    ? refuseMachine('machine_not_allowed')
    : (barOf(access, request, session) ?? nameMachine('machine', session, pass))
}

function refuseMachine(
  reason: MachineReason | 'state_lost',
  isKeyUnknown?: boolean,
): Outcome<never> {
  return reason === 'state_lost'
    ? STATE_LOST
    : { kind: 'refuse', reason, status: MACHINE_STATUSES[reason], isKeyUnknown }
}

const MACHINE_STATUSES: Readonly<Record<MachineReason, RefusedStatus>> = {
  machine_malformed: 401,
  machine_with_session: 401,
  machine_unknown: 401,
  machine_secret_ended: 401,
  machine_disabled: 401,
  machine_not_allowed: 403,
  machine_rate_limited: 429,
  machine_token_ambiguous: 400,
  machine_token_invalid: 401,
  machine_token_expired: 401,
  machine_token_revoked: 401,
}

/**
 * No browser lets a page write such headers, so a machine's WebSocket is its own wherever it says
 * that it comes from.
 */
function nameMachine<Session>(
  reason: ForwardReason,
  session: Session,
  machine: MachinePass,
): Forward<Session> {
  const isForeignPage = false
  const cookies = NO_COOKIES
  return { kind: 'forward', reason, session, machine, cookies, isSeenDue: false, isForeignPage }
}

/**
 * What access rules have against it. A proof or a token of a moment ago would be no other if it were
 * asked for again, so nobody goes round in circles.
 */
function barOf(
  access: AccessJudge | undefined,
  request: Judged<unknown>,
  { claims }: WithClaims,
): Outcome<never> | undefined {
  if (access === undefined) return undefined
  const { clientAddress, nowSeconds } = request
  const { authTime, groupBits, groupsVersion = 0, serviceId } = claims
  const who = { clientAddress, nowSeconds, authTime, groupBits, groupsVersion, serviceId }
  const { host, path } = request
  const facts = { ...who, isStrong: isStrong(claims) }
  const methods = methodsOf(request)
  for (const method of methods ?? [request.method]) {
    const verdict = access.judge({ host, method, path }, facts)
    if (verdict.kind !== 'allowed') return barBehind(verdict, request, claims)
  }
  if (methods !== undefined) return undefined
  return claims.serviceId === undefined ? RULE_DENIED : refuseMachine('machine_not_allowed')
}

/**
 * Its own first. Which of the others a framework takes, and whether it does at all, nobody here can know.
 * Undefined: they are more than anybody has use for.
 */
function methodsOf({ method, methodOverrides }: Judged<unknown>): ReadonlySet<string> | undefined {
  const methods = new Set([method])
  if (methodOverrides.length === 0) return methods
  const others = methodOverrides
    .join()
    .toUpperCase()
    .split(SEPARATORS, METHOD_WORDS_MAX + 1)
  if (others.length > METHOD_WORDS_MAX) return undefined
  for (const other of others) if (other !== '') methods.add(other)
  return methods.size > METHODS_MAX ? undefined : methods
}

function barBehind(
  verdict: Exclude<AccessVerdict, { kind: 'allowed' }>,
  { nowSeconds, isNavigation }: Judged<unknown>,
  { authTime, iat, serviceId }: TokenClaims,
): Outcome<never> {
  if (verdict.kind === 'unreadable') return UNREADABLE
  if (serviceId !== undefined) return refuseMachine('machine_not_allowed')
  const { isStrengthMissing, isGroupMissing, maxAge, ways } = verdict
  const isOld = (atSeconds: number) => nowSeconds - atSeconds > LIMITS.freshClaimsSecondsMax
  if (isStrengthMissing && isOld(authTime))
    return { kind: 'sign_in', reason: 'strength_missing', maxAge }
  if (isGroupMissing && isOld(iat) && isNavigation)
    return { kind: 'sign_in', reason: 'groups_outdated' }
  return { kind: 'refuse', reason: 'rule_denied', status: 403, ways }
}

/** A sign-in that could not hold would go round in circles (.docs/decisions/0026). */
function serve(endpoint: ServiceEndpoint, request: Judged<unknown>): Outcome<never> {
  if (request.isStateLost) return STATE_LOST
  const startsSession = endpoint === 'login' || endpoint === 'callback'
  return startsSession && request.isNetworkUnknown
    ? CLIENT_UNREADABLE
    : { kind: 'service', endpoint }
}

/**
 * Whoever it is; somebody who is signed in is named all the same, and a machine that is known. A token
 * of the realm is no application's to judge, so one that does not hold goes no further here, too.
 */
function letIn<Session>(
  reason: 'excluded' | 'pass_through',
  { services }: TenantRules,
  request: Judged<Session>,
): Outcome<Session> {
  const brings = services === undefined ? undefined : request.machineBrings
  if (brings === 'token' && request.isStateLost) return STATE_LOST
  if (brings !== undefined && !request.isStateLost) {
    const machine = request.readMachine()
    if (machine.kind === 'known') return nameMachine(reason, machine.session, machine.pass)
    if (brings === 'token') return refuseMachine(machine.reason, machine.isKeyUnknown)
    return forNobody(reason, request.isUpgrade && !request.isFromOwnOrigin)
  }
  const verdict = request.isStateLost ? undefined : request.readSession()
  if (verdict?.kind === 'valid') return admit(reason, request, verdict)
  // whose session it is cannot be told, and it is not to be used by another site's page
  const isForeignPage = request.isStateLost && request.isUpgrade && !request.isFromOwnOrigin
  return forNobody(reason, isForeignPage)
}

/**
 * A browser lets any site's page open a WebSocket to anywhere, with the cookies of its user. Where
 * those cookies are what opens the door it stays shut; a door that is open for everybody is open
 * for that page too, but nobody is named there.
 */
function admit<Session>(
  reason: ForwardReason,
  request: Judged<Session>,
  { session, cookies, isSeenDue }: Extract<SessionVerdict<Session>, { kind: 'valid' }>,
): Outcome<Session> {
  if (!request.isUpgrade || request.isFromOwnOrigin)
    return { kind: 'forward', reason, session, cookies, isSeenDue, isForeignPage: false }
  return reason === 'session' ? ORIGIN_FOREIGN : forNobody(reason, true)
}

function forNobody(reason: ForwardReason, isForeignPage: boolean): Forward<never> {
  const cookies = NO_COOKIES
  return { kind: 'forward', reason, session: undefined, cookies, isSeenDue: false, isForeignPage }
}
