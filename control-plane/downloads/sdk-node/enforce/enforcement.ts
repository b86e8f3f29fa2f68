/** `enforce()`: the gateway's decisions, inside an application. The life of a request is `judge`. */
import { nowSeconds } from '../../../../shared/clock.ts'
import { createAddressReader, isNameless, plainAddress } from '../../../../shared/client-address.ts'
import { BAD_REQUESTS, type BadRequest } from '../../../../shared/enforcement/bad-requests.ts'
import {
  decide,
  type Forward,
  type Outcome as Decision,
  type ServiceEndpoint,
} from '../../../../shared/enforcement/decide.ts'
import { pathOf } from '../../../../shared/enforcement/path.ts'
import { createMachineReader } from '../../../../shared/enforcement/read-machine.ts'
import { createSessionReader } from '../../../../shared/enforcement/read-session.ts'
import type { AllowClause } from '../../../../shared/fleet/access-rules.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import type { SignInReason } from '../../../../shared/reasons.ts'
import type { Answer } from '../../../../shared/sign-in/answer.ts'
import { askerOf, badRequest } from '../../../../shared/sign-in/bad-request.ts'
import { callback } from '../../../../shared/sign-in/callback.ts'
import { createCallbackAdmission } from '../../../../shared/sign-in/callback-admission.ts'
import { login } from '../../../../shared/sign-in/login.ts'
import { logout } from '../../../../shared/sign-in/logout.ts'
import { createRelyingParty } from '../../../../shared/sign-in/relying-party.ts'
import { refusal, signInRequired, signInUnavailable } from '../../../../shared/sign-in/refusals.ts'
import { seldomWarnings } from '../../../../shared/sign-in/seldom-warnings.ts'
import {
  reasonOf,
  terminate,
  type SignInWorld,
} from '../../../../shared/sign-in/service-request.ts'
import { isIP } from 'node:net'
import type { CustomFetch } from 'openid-client'
import { environment } from '../config.ts'
import { probeAnswer, type Guard, type GuardedRequest, type Outcome } from '../guard.ts'
import { judgeProbe } from '../probe.ts'
import { Admission } from './admission.ts'
import type { EnforceOptions } from '../published.ts'
import { readEnforceOptions, type EnforceSettings } from './options.ts'
import { createMachineReports } from './machine-reports.ts'
import { me } from './me.ts'
import { createRecentMoves } from './recent-moves.ts'
import { readFacts, valuesOf, type RequestFacts } from './request-facts.ts'
import { createEnforcementState } from './enforcement-state.ts'
import type { EnforcedTenant } from './state.ts'
import { EnforcedRequest, type Session, type EnforcedRequestWorld } from './enforced-request.ts'

/** How long a request waits for the first state after the start, before it is told to come back. */
const START_WAIT_MS = 5000

export function createEnforcement(options: EnforceOptions = {}): Guard {
  const settings = readEnforceOptions(options, environment())
  const { secrets } = settings
  return secrets === undefined ? lacking(settings.onWarning) : enforcing({ ...settings, secrets })
}

const NO_SECRET =
  'service-node: clientSecret is missing, so every request is answered 503. ' +
  'Set SERVICE_CLIENT_SECRET (in the console, under Keys), then restart the application'

/** The first start behind an integration: the application runs, and nobody gets in. */
function lacking(warn: (text: string) => void): Guard {
  warn(NO_SECRET)
  return {
    judge(request) {
      const facts = readFacts(request)
      if (typeof facts === 'string') return answered(refusedRequest(request, facts))
      return answered(notReady(facts))
    },
    watch: () => () => undefined,
    ready: () => Promise.reject(new Error(NO_SECRET)),
    close: () => Promise.resolve(),
  }
}

function enforcing(settings: EnforceSettings): Guard {
  const warn = (text: string) => settings.onWarning(`service-node: ${text}`)
  const state = createEnforcementState(settings)
  const { clock, events, revoked } = state
  const moves = createRecentMoves()
  const reports = createMachineReports(settings.tenantId, events.add)
  let isAddressMissed = false
  let isClientUnread = false
  const addressOf = createAddressReader(settings.trustedProxies)
  const sessions = createSessionReader<Admission>({
    entriesMax: LIMITS.enforcedSessionsRememberedMax,
    carry: (token, claims) => new Admission(token, claims),
  })
  const machines = createMachineReader<Admission>({ sessions, clock })
  const world: EnforcedRequestWorld = { sessions, machines, revoked, isStateLost: state.isTooOld }
  const relyingParty = createRelyingParty({
    fetch: settings.fetch as CustomFetch,
    clock,
  })
  const signIn: SignInWorld<EnforcedRequest> = {
    sessions,
    relyingParty,
    callbacks: createCallbackAdmission(clock),
    clock,
    endSession(enforced, claims, outcome) {
      const { sub: subject, sid, iat: issued_at } = claims
      state.endSession(claims)
      events.add({ outcome, subject, sid, issued_at, ...placeOf(enforced) })
    },
    log: seldomWarnings(
      { warn: (fields, text) => warn(`${text}: ${JSON.stringify(fields)}`) },
      clock,
    ),
  }

  function judge(request: GuardedRequest): Outcome | Promise<Outcome> {
    const facts = readFacts(request)
    if (typeof facts === 'string') return answered(refusedRequest(request, facts))
    if (!state.isStarted()) return judgeLater(request, facts)
    return judgeNow(request, facts)
  }

  /** The first requests after the start wait for the first state, for a while. */
  async function judgeLater(request: GuardedRequest, facts: RequestFacts): Promise<Outcome> {
    await state.started(START_WAIT_MS)
    return state.isStarted() ? judgeNow(request, facts) : answered(notReady(facts))
  }

  function judgeNow(request: GuardedRequest, facts: RequestFacts): Outcome | Promise<Outcome> {
    const tenant = state.tenant()
    const peer = plainAddress(request.peerAddress) ?? request.peerAddress
    const { address, isUnread } = addressOf(peer, facts.forwardedFor)
    if (isUnread) tellOfUnreadClient(peer)
    const clientAddress = isUnread ? '' : address
    const arrived = { head: facts, clientAddress, peer, nowSeconds: nowSeconds(clock) }
    const enforced = new EnforcedRequest(arrived, tenant, world)
    if (facts.probe !== '' && enforced.path === tenant.health && tenant.status === 'published')
      return probed(facts.probe)
    const decision = decide(tenant, enforced)
    const looking = isOfUnknownKey(decision) ? state.lookForKeys() : undefined
    if (looking === undefined) return carryOut(enforced, decision)
    return looking.then(() => decideAnew(enforced.under(state.tenant())))
  }

  function decideAnew(enforced: EnforcedRequest) {
    return carryOut(enforced, decide(enforced.tenant, enforced))
  }

  function carryOut(
    enforced: EnforcedRequest,
    decision: Decision<Session>,
  ): Outcome | Promise<Outcome> {
    switch (decision.kind) {
      case 'forward':
        return forward(enforced, decision)
      case 'service':
        return serve(enforced, decision.endpoint)
      case 'sign_in':
        return answered(askToSignIn(enforced, decision.reason, decision.maxAge))
      case 'refuse':
        if (decision.reason === 'sealed' && !isOwnProbe(enforced))
          events.add({ outcome: 'sealed', ...placeOf(enforced), path: shownPath(enforced.path) })
        reports.refused(decision.reason, placeOf(enforced))
        if (decision.reason === 'client_unreadable') tellOfMissingAddress(enforced.peer)
        return answered(
          refusal(enforced, decision.reason, decision.status, deniedBy(enforced, decision.ways)),
        )
    }
  }

  function forward(
    enforced: EnforcedRequest,
    { session, machine, cookies, isForeignPage }: Forward<Session>,
  ): Outcome {
    const { target } = enforced.head
    if (session !== undefined) session.carried.usedSeconds = enforced.nowSeconds
    if (machine !== undefined) reports.used(machine, placeOf(enforced), enforced.nowSeconds)
    const identity = session?.carried
    const { access } = enforced.tenant
    if (identity !== undefined) identity.groups = access?.groupsOf(identity.claims)
    const { method, methodOverrides, clientAddress } = enforced
    const asked = { method, methodOverrides, clientAddress, machine }
    const admitted = { target, isForeignPage, identity, privateCookies: cookies, asked }
    return { kind: 'forward', ...admitted, isTokenOurs: machine?.tokenEndsAt !== undefined }
  }

  function askToSignIn(enforced: EnforcedRequest, reason: SignInReason, maxAge?: number): Answer {
    if (reason === 'binding_terminate') terminate(enforced, signIn)
    if (reason === 'binding_step_up') noteMove(enforced)
    return signInRequired(enforced, reason, maxAge)
  }

  /** Once: every request of such a process is the same, but those of clients that are gone. */
  function tellOfMissingAddress(peer: string) {
    if (isAddressMissed || !isNameless(peer)) return
    isAddressMissed = true
    warn(
      'sessions are bound to a network, but requests arrive without a client address (unix socket, or Next.js proxy.ts), ' +
        `so nobody can sign in. If every request comes through a proxy that sets X-Forwarded-For, set trustedProxies: ['${peer}']`,
    )
  }

  function tellOfUnreadClient(peer: string) {
    if (isClientUnread) return
    isClientUnread = true
    warn(
      `the X-Forwarded-For of the trusted proxy ${peer} cannot be read; have it append an address`,
    )
  }

  /** One session that moved is one event, however often its new place asks. */
  function noteMove(enforced: EnforcedRequest) {
    const claims = sessions.claimsOf(enforced)?.claims
    if (claims === undefined || !moves.isNew(claims.sid, enforced.nowSeconds)) return
    const { sub: subject, sid } = claims
    events.add({ outcome: 'step_up', reason: 'binding', subject, sid, ...placeOf(enforced) })
  }

  async function serve(enforced: EnforcedRequest, endpoint: ServiceEndpoint): Promise<Outcome> {
    try {
      if (endpoint === 'me') return answered(me(enforced, askToSignIn))
      return answered(await ENDPOINTS[endpoint](enforced, signIn))
    } catch (error) {
      signIn.log.warn({ reason: reasonOf(error) }, 'sign-in is not available')
      return answered(signInUnavailable(enforced))
    }
  }

  /** Verification looks whether it is sealed: nobody is trying it. */
  function isOwnProbe({ tenant, head: { probe } }: EnforcedRequest): boolean {
    return probe !== '' && typeof judgeProbe(probe, tenant.trust, nowSeconds(clock)) !== 'string'
  }

  async function probed(probe: string): Promise<Outcome> {
    const judgeWith = ({ trust }: EnforcedTenant) => judgeProbe(probe, trust, nowSeconds(clock))
    let verdict = judgeWith(state.tenant())
    if (verdict === 'key_unknown') {
      await state.lookForKeys()
      verdict = judgeWith(state.tenant())
    }
    return probeAnswer(verdict)
  }

  return {
    judge,
    watch: ({ identity, target, asked = UNTOLD }, open) =>
      state.watch(
        identity instanceof Admission ? identity : undefined,
        { path: pathOf(target), ...asked },
        open,
      ),
    ready: () => state.ready(),
    async close() {
      reports.close()
      await state.close()
    },
  }
}

const deniedBy = ({ tenant, path }: EnforcedRequest, ways: readonly AllowClause[] | undefined) =>
  ways && { ways, contact: tenant.accessContact, url: tenant.origin + path }

/** Of a request that nobody can tell anything of: no network is known to have it. */
const UNTOLD = { method: 'GET', methodOverrides: [], clientAddress: '', machine: undefined }

const ENDPOINTS: Readonly<
  Record<
    Exclude<ServiceEndpoint, 'me'>,
    (enforced: EnforcedRequest, world: SignInWorld<EnforcedRequest>) => Promise<Answer> | Answer
  >
> = { login, callback, logout }

function answered({ status, headerLines, body }: Answer): Outcome {
  const headers = headerLines.map((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon), line.slice(colon + 2)] as const
  })
  return { kind: 'answer', status, headers, body }
}

/** Nothing is known of the tenant yet, and so there is no request to it. */
function notReady(head: RequestFacts): Answer {
  return refusal({ head, header: (name) => valuesOf(head, name) }, 'not_ready', 503)
}

function refusedRequest({ method, rawHeaders }: GuardedRequest, problem: BadRequest): Answer {
  const value = (name: string) => valuesOf({ rawHeaders }, name).join()
  const facts = {
    method,
    secFetchMode: value('sec-fetch-mode'),
    accept: value('accept'),
    requestedWith: value('x-requested-with'),
    isUpgrade: false,
  }
  const asker = askerOf(facts, value('accept-language'))
  return badRequest(BAD_REQUESTS[problem], asker, ['Connection: close'])
}

/** Nothing that a log, a terminal or a page would stumble over. */
const shownPath = (path: string) =>
  path.slice(0, LIMITS.refusedPathCharactersMax).replaceAll(/[^\x20-\x7e]/g, '?')

/** Where no address can be read there is none to tell of. */
function placeOf(enforced: EnforcedRequest) {
  const { clientAddress: ip, head } = enforced
  return isIP(ip) === 0 ? { app_host: head.host } : { ip, app_host: head.host }
}

function isOfUnknownKey(decision: Decision<Session>): boolean {
  if (decision.kind === 'refuse') return decision.isKeyUnknown === true
  return decision.kind === 'sign_in' && decision.reason === 'key_unknown'
}
