/** The life of one request. Read this first. */
import type { Clock } from '../shared/clock.ts'
import { withoutSessionCookie } from '../shared/enforcement/cookies.ts'
import {
  decide,
  type Forward,
  type Judged,
  type Outcome,
  type RefusedStatus,
  type ServiceEndpoint,
} from '../shared/enforcement/decide.ts'
import { isOwnOrigin } from '../shared/enforcement/own-origin.ts'
import type { RevokedView } from '../shared/enforcement/session.ts'
import { carriedProof, checkPass } from '../shared/probe.ts'
import type { AddressReader } from '../shared/client-address.ts'
import type { Reason, RefuseReason, SignInReason } from '../shared/reasons.ts'
import type { Answer } from '../shared/sign-in/answer.ts'
import { refusal, signInRequired } from '../shared/sign-in/refusals.ts'
import type { Visit } from '../shared/sign-in/visit.ts'
import { respond } from './request/respond.ts'
import type { Exchange, ForwardPlan, RequestHead } from './wire/exchange.ts'
import { valuesOf } from './wire/websocket-request.ts'
import { isRequestId } from './request/request-ids.ts'
import type { ProvenSession, SessionReader } from './request/sessions.ts'
import { isTraceparent, keptTracestate } from './request/trace.ts'
import type { CompiledTenant } from './tenants/compiled.ts'
import type { HostLookup, Served } from './tenants/registry.ts'
import type { Upgrades } from './upgrade/upgrades.ts'
import { forwardingLines } from './upstream/forwarding-lines.ts'
import type { Upstream } from './wire/upstream-call.ts'

export interface Edge {
  byHost(host: string): HostLookup<CompiledTenant>
  readonly sessions: SessionReader
  readonly addresses: AddressReader
  readonly clock: Clock
  readonly upgrades: Pick<Upgrades, 'hasRoom' | 'upstream'>
  nextRequestId(): string
  /** Whether this request, if all goes well, gets a line of the access log. */
  isRecorded(): boolean
  startTrace(isRecorded: boolean): string
  serve(context: RequestContext, endpoint: ServiceEndpoint): void
  /** The session moved to another client and its tenant wants it ended. */
  terminate(context: RequestContext): void
  /** A live session was used: told when its companion cookie is rewritten, so not every time. */
  active(context: RequestContext, session: ProvenSession): void
}

/** One request with what was found out about it; the tenant's snapshot is kept to its end. */
export class RequestContext implements Visit, Judged<ProvenSession> {
  readonly exchange: Exchange
  readonly edge: Edge
  readonly tenant: CompiledTenant
  readonly revoked: RevokedView
  readonly cookies: string
  readonly userAgent: string
  readonly clientAddress: string
  readonly addressChain: string
  readonly path: string
  readonly query: string
  readonly nowSeconds: number
  readonly requestId: string
  readonly isRecorded: boolean
  readonly traceparent: string
  readonly tracestate: string
  /** With decimals, of a clock that nobody sets: for durations only. */
  readonly startedAtMs = performance.now()
  readonly protocol: 'http' | 'https'
  /** The tenant's own address as browsers see it, never what a header says. */
  readonly edgeUrl: string
  readonly isCookieSecure: boolean
  /** For the log line. */
  decision: Outcome<never>['kind'] | 'probe' = 'refuse'
  reason: Reason | '' = ''
  /** Who the request was forwarded for, and the state of the tenant under which it still may be. */
  session: ProvenSession | undefined = undefined
  allowedBy: CompiledTenant
  /** Until when the control plane knows that the session was in use. */
  reportedSeconds: number

  constructor(exchange: Exchange, edge: Edge, { tenant, revoked }: Served<CompiledTenant>) {
    const { head } = exchange
    const client = edge.addresses(exchange.peerAddress, head.forwardedFor)
    const queryAt = head.target.indexOf('?')
    exchange.context = this
    this.exchange = exchange
    this.edge = edge
    this.tenant = tenant
    this.allowedBy = tenant
    this.revoked = revoked
    this.cookies = head.cookies
    this.userAgent = head.userAgent
    this.clientAddress = client.address
    this.addressChain = client.chain
    this.path = queryAt === -1 ? head.target : head.target.slice(0, queryAt)
    this.query = queryAt === -1 ? '' : head.target.slice(queryAt + 1)
    this.nowSeconds = Math.floor(exchange.startedMs / 1000)
    this.reportedSeconds = this.nowSeconds
    const isKnownId = client.isPeerTrusted && isRequestId(head.requestId)
    this.requestId = isKnownId ? head.requestId : edge.nextRequestId()
    this.isRecorded = edge.isRecorded()
    const isTraced = head.traceparent !== '' && isTraceparent(head.traceparent)
    this.traceparent = isTraced ? head.traceparent : edge.startTrace(this.isRecorded)
    this.tracestate = isTraced ? keptTracestate(head.tracestate) : ''
    const isSecure = client.isPeerTrusted ? head.forwardedProto === 'https' : exchange.isSecure
    this.protocol = isSecure ? 'https' : 'http'
    this.edgeUrl = tenant.edgeUrls.get(head.host) ?? ''
    this.isCookieSecure = this.edgeUrl.startsWith('https:')
  }

  get head(): RequestHead {
    return this.exchange.head
  }

  header(name: string): readonly string[] {
    return valuesOf(this.exchange.head.keptLines, name)
  }

  isOwnPage(origins: readonly string[]): boolean {
    const { authority } = this.exchange.head
    const edgeUrls = this.tenant.edgeUrls.values()
    return isOwnOrigin({ origins, edgeUrls, protocol: this.protocol, authority })
  }

  /** No page of another site asked for this. */
  get isFromOwnOrigin(): boolean {
    return this.isOwnPage(this.header('origin'))
  }

  get isUpgrade(): boolean {
    return this.exchange.head.isUpgrade && this.exchange.takeSocket !== undefined
  }

  /** What was good last is enforced for as long as it takes (design: last known good). */
  get isStateLost(): boolean {
    return false
  }

  /** Every connection at the edge has an address. */
  get isNetworkUnknown(): boolean {
    return false
  }

  readSession() {
    return this.edge.sessions.read(this)
  }

  /** What a request gets whose session does not hold, or is not there. */
  signIn(reason: SignInReason): Answer {
    if (reason === 'binding_terminate') this.edge.terminate(this)
    return signInRequired(this, reason)
  }
}

export function handleRequest(exchange: Exchange, edge: Edge): void {
  const found = edge.byHost(exchange.head.host)
  if (found.kind === 'unknown') return refuseUnserved(exchange, edge, 'host_unknown', 404)
  if (found.kind === 'held') return refuseUnserved(exchange, edge, found.reason, 503)
  const context = new RequestContext(exchange, edge, found.served)
  const probeKey = exchange.head.probePass === '' ? undefined : keyOfOwnProbe(context)
  if (probeKey !== undefined) return carryProbe(context, probeKey)
  if (belongsOverTls(context)) return moveToTls(context)
  return carryOut(context, decide(context.tenant, context))
}

/** The host has a certificate here, and this request came without TLS all the way. */
function belongsOverTls(context: RequestContext): boolean {
  return (
    context.protocol === 'http' &&
    context.isCookieSecure &&
    context.tenant.certificates.has(context.exchange.head.host)
  )
}

/** 308 and not 301: a form that is sent stays sent. */
function moveToTls(context: RequestContext): void {
  const { exchange, edgeUrl, requestId } = context
  const { target } = exchange.head
  context.decision = 'service'
  exchange.respond({
    status: 308,
    headerLines: [
      `Location: ${edgeUrl}${target === '*' ? '/' : target}`,
      'Cache-Control: no-store',
      `X-Request-Id: ${requestId}`,
    ],
    body: '',
  })
}

function carryOut(context: RequestContext, outcome: Outcome<ProvenSession>): void {
  context.decision = outcome.kind
  if (outcome.kind !== 'service') context.reason = outcome.reason
  switch (outcome.kind) {
    case 'forward':
      return forward(context, outcome)
    case 'service':
      return context.edge.serve(context, outcome.endpoint)
    case 'sign_in':
      return respond(context.exchange, context.signIn(outcome.reason))
    case 'refuse':
      return refuse(context.exchange, outcome.reason, outcome.status)
  }
}

function forward(context: RequestContext, outcome: Forward<ProvenSession>): void {
  const { exchange, tenant } = context
  if (context.isUpgrade) return forwardUpgrade(context, outcome)
  exchange.forward(planOf(context, outcome, tenant.upstream, exchange.head))
}

function forwardUpgrade(context: RequestContext, outcome: Forward<ProvenSession>): void {
  const { exchange, tenant, edge } = context
  const { tenantId, origin } = tenant
  const sid = outcome.session?.claims.sid ?? ''
  const claim = { tenantId, sid, client: context.clientAddress }
  if (!edge.upgrades.hasRoom(claim)) return refuseUpgrade(context, 'websockets_exhausted', 503)
  const { authority, cookies } = exchange.head
  const head = outcome.isForeignPage
    ? { cookies: withoutSessionCookie(cookies), authority }
    : exchange.head
  const plan = planOf(context, outcome, tenant.upstream, head)
  const responseLines = plan.responseLines + plan.privateCookieLine
  const upstream = edge.upgrades.upstream({ exchange, origin, responseLines, ...claim })
  exchange.forward({ ...plan, upstream })
}

function refuseUpgrade(context: RequestContext, reason: RefuseReason, status: RefusedStatus): void {
  context.decision = 'refuse'
  context.reason = reason
  refuse(context.exchange, reason, status)
}

/** The decision to forward has stopped being true while its answer was under way. */
export function takeBack(context: RequestContext, outcome: Outcome<never>): void {
  if (outcome.kind !== 'service') context.reason = outcome.reason
  if (context.exchange.recall?.() === true) carryOut(context, outcome)
}

function planOf(
  context: RequestContext,
  { session, cookies, isSeenDue }: Forward<ProvenSession>,
  upstream: Upstream,
  head: Pick<RequestHead, 'authority' | 'cookies'>,
): ForwardPlan {
  context.session = session
  if (isSeenDue) context.edge.active(context, session!)
  return {
    upstream,
    client: context.clientAddress,
    // With a session, `head.cookies` is what the session was just read from.
    requestLines:
      session === undefined
        ? forwardingLines(head, context)
        : session.carried.forwarding(head.authority, session.cookies || head.cookies, context),
    responseLines: `X-Request-Id: ${context.requestId}\r\n`,
    isPrivate: session !== undefined,
    privateCookieLine: cookies.length === 0 ? '' : cookies.map(cookieLine).join(''),
  }
}

const cookieLine = (cookie: string) => `Set-Cookie: ${cookie}\r\n`

/** A request without a tenant: all that its log line can tell. */
export class UnservedContext {
  readonly requestId: string
  readonly reason: RefuseReason

  constructor(requestId: string, reason: RefuseReason) {
    this.requestId = requestId
    this.reason = reason
  }
}

function refuseUnserved(
  exchange: Exchange,
  edge: Edge,
  reason: RefuseReason,
  status: 404 | 503,
): void {
  const context = new UnservedContext(edge.nextRequestId(), reason)
  exchange.context = context
  refuse(exchange, reason, status)
}

function refuse(exchange: Exchange, reason: RefuseReason, status: RefusedStatus): void {
  respond(exchange, refusal(exchange.head, reason, status))
}

/**
 * Our control plane checks that its requests travel through here to the application. It may have
 * signed the pass under the client secret before the newest one, and knows the proof by the same.
 */
function keyOfOwnProbe(context: RequestContext): Buffer | undefined {
  const { exchange, tenant, path, nowSeconds } = context
  const { probe, probePass } = exchange.head
  if (tenant.status !== 'published' || path !== tenant.health) return undefined
  return tenant.probeKeys.find((key) => checkPass(key, probePass, probe, nowSeconds))
}

function carryProbe(context: RequestContext, probeKey: Buffer): void {
  const { exchange, tenant, requestId } = context
  context.decision = 'probe'
  context.reason = 'probe'
  const lines = forwardingLines(exchange.head, context)
  const proof = carriedProof(probeKey, exchange.head.probe)
  exchange.forward({
    upstream: tenant.upstream,
    requestLines: `${lines}X-Service-Probe: ${exchange.head.probe}\r\n`,
    responseLines: `X-Request-Id: ${requestId}\r\nX-Service-Probe-Carried: ${proof}\r\n`,
    isPrivate: true,
    privateCookieLine: '',
  })
}
