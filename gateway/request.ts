/** The life of one request. Read this first. */
import type { Clock } from '../shared/clock.ts'
import { clearCookie, HOPS_COOKIE, SEEN_COOKIE, setCookie } from '../shared/enforcement/cookies.ts'
import { decide, type Decision, type ServiceEndpoint } from '../shared/enforcement/decide.ts'
import { isNavigation } from '../shared/enforcement/navigation.ts'
import type { RevokedView } from '../shared/enforcement/session.ts'
import { carriedProof, checkPass } from '../shared/probe.ts'
import {
  REASON_TEXTS,
  REFUSAL_TEXTS,
  type Reason,
  type RefuseReason,
  type SignInReason,
} from '../shared/reasons.ts'
import { answerJson, answerPage, redirect } from './answers.ts'
import type { AddressReader } from './client-address.ts'
import type { Exchange } from './exchange.ts'
import type { ProvenSession, SessionReader, SessionRequest } from './session/read-session.ts'
import type { CompiledTenant } from './tenants/compiled.ts'
import type { HostLookup, Served } from './tenants/directory.ts'
import { forwardingLines } from './upstream/forwarding-lines.ts'

export interface Edge {
  byHost(host: string): HostLookup<CompiledTenant>
  readonly sessions: SessionReader
  readonly addresses: AddressReader
  readonly clock: Clock
  nextRequestId(): string
  serve(context: RequestContext, endpoint: ServiceEndpoint): void
  /** The session moved to another client and its tenant wants it ended. */
  terminate(context: RequestContext): void
  /** A live session was used: told when its companion cookie is rewritten, so not every time. */
  active(context: RequestContext, session: ProvenSession): void
}

/** One request with what was found out about it; the tenant's snapshot is kept to its end. */
export class RequestContext implements SessionRequest {
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
  readonly protocol: 'http' | 'https'
  /** For the log line. */
  decision: Decision<never>['kind'] | 'probe' = 'refuse'
  reason: Reason | '' = ''

  constructor(exchange: Exchange, edge: Edge, { tenant, revoked }: Served<CompiledTenant>) {
    const { head } = exchange
    const client = edge.addresses(exchange.peerAddress, head.forwardedFor)
    const queryAt = head.target.indexOf('?')
    exchange.context = this
    this.exchange = exchange
    this.edge = edge
    this.tenant = tenant
    this.revoked = revoked
    this.cookies = head.cookies
    this.userAgent = head.userAgent
    this.clientAddress = client.address
    this.addressChain = client.chain
    this.path = queryAt === -1 ? head.target : head.target.slice(0, queryAt)
    this.query = queryAt === -1 ? '' : head.target.slice(queryAt + 1)
    this.nowSeconds = Math.floor(edge.clock.nowMs() / 1000)
    this.requestId = edge.nextRequestId()
    const isSecure = client.isPeerTrusted ? head.forwardedProto === 'https' : exchange.isSecure
    this.protocol = isSecure ? 'https' : 'http'
  }

  get clock(): Clock {
    return this.edge.clock
  }

  /** The tenant's own address as browsers see it, never what a header says. */
  get edgeUrl(): string {
    return this.tenant.edgeUrls.get(this.exchange.head.host) ?? ''
  }

  get isCookieSecure(): boolean {
    return this.edgeUrl.startsWith('https:')
  }

  readSession() {
    return this.edge.sessions.read(this)
  }

  signIn(reason: SignInReason) {
    askToSignIn(this, reason)
  }
}

export function handleRequest(exchange: Exchange, edge: Edge): void {
  const found = edge.byHost(exchange.head.host)
  if (found.kind === 'unknown') return refuse(exchange, edge.nextRequestId(), 'host_unknown', 404)
  if (found.kind === 'held') return refuse(exchange, edge.nextRequestId(), found.reason, 503)
  const context = new RequestContext(exchange, edge, found.served)
  if (exchange.head.probePass !== '' && isOwnProbe(context)) return carryProbe(context)
  const decision = decide(context.tenant, context.path, context, readSession)
  return carryOut(context, decision)
}

function readSession(context: RequestContext) {
  return context.edge.sessions.read(context)
}

function carryOut(context: RequestContext, decision: Decision<ProvenSession>): void {
  context.decision = decision.kind
  if (decision.kind !== 'service') context.reason = decision.reason
  switch (decision.kind) {
    case 'forward':
      return forward(context, decision.session)
    case 'service':
      return context.edge.serve(context, decision.endpoint)
    case 'sign_in':
      return askToSignIn(context, decision.reason)
    case 'refuse':
      return refuse(context.exchange, context.requestId, decision.reason, decision.status)
  }
}

function forward(context: RequestContext, session: ProvenSession | undefined): void {
  const { exchange, tenant } = context
  exchange.forward({
    upstream: tenant.upstream,
    requestLines: forwardingLines(exchange.head, {
      clientAddress: context.clientAddress,
      addressChain: context.addressChain,
      protocol: context.protocol,
      requestId: context.requestId,
      identityLines: session === undefined ? '' : session.identityLines,
    }),
    responseLines: `X-Request-Id: ${context.requestId}\r\n`,
    isPrivate: session !== undefined,
    privateCookieLine: session === undefined ? '' : companionLines(context, session),
  })
}

/** Most answers carry none: the companion cookie is rewritten at most every idle_seconds / 30. */
function companionLines(context: RequestContext, session: ProvenSession): string {
  const isSecure = context.isCookieSecure
  let lines = ''
  if (session.seenDue !== '') {
    const maxAgeSeconds = Math.max(1, session.claims.exp - context.nowSeconds)
    lines = `Set-Cookie: ${setCookie(SEEN_COOKIE, session.seenDue, { maxAgeSeconds, isSecure })}\r\n`
    context.edge.active(context, session)
  }
  if (context.cookies.includes(HOPS_COOKIE))
    lines += `Set-Cookie: ${clearCookie(HOPS_COOKIE, isSecure)}\r\n`
  return lines
}

/** A person is sent to sign in and comes back here; a program gets a 401 that it can read. */
function askToSignIn(context: RequestContext, reason: SignInReason): void {
  const { exchange } = context
  if (reason === 'binding_terminate') context.edge.terminate(context)
  if (isNavigation(exchange.head)) {
    const returnTo = encodeURIComponent(exchange.head.target)
    return redirect(exchange, 302, `/service/login?returnTo=${returnTo}`, [])
  }
  const body = {
    error: 'sign_in_required',
    detail: REASON_TEXTS[reason],
    reason,
    login_url: `${context.edgeUrl}/service/login`,
  }
  answerJson(exchange, 401, body, [
    `WWW-Authenticate: Session realm="${context.tenant.tenantId}"`,
    `X-Request-Id: ${context.requestId}`,
  ])
}

function refuse(
  exchange: Exchange,
  requestId: string,
  reason: RefuseReason,
  status: 400 | 404 | 503,
): void {
  const lines = [`X-Request-Id: ${requestId}`]
  if (status === 503) lines.push('Retry-After: 5')
  const { code, title, text } = REFUSAL_TEXTS[reason]
  if (!isNavigation(exchange.head))
    return answerJson(exchange, status, { error: code, detail: text }, lines)
  answerPage(exchange, status, { title, text, code }, lines)
}

/** Our control plane checks that its requests travel through here to the application. */
function isOwnProbe({ exchange, tenant, path, nowSeconds }: RequestContext): boolean {
  const { probe, probePass } = exchange.head
  return (
    tenant.status === 'published' &&
    path === tenant.health &&
    checkPass(tenant.probeKey, probePass, probe, nowSeconds)
  )
}

function carryProbe(context: RequestContext): void {
  const { exchange, tenant, requestId } = context
  context.decision = 'probe'
  context.reason = 'probe'
  const lines = forwardingLines(exchange.head, { ...context, identityLines: '' })
  const proof = carriedProof(tenant.probeKey, exchange.head.probe)
  exchange.forward({
    upstream: tenant.upstream,
    requestLines: `${lines}X-Service-Probe: ${exchange.head.probe}\r\n`,
    responseLines: `X-Request-Id: ${requestId}\r\nX-Service-Probe-Carried: ${proof}\r\n`,
    isPrivate: true,
    privateCookieLine: '',
  })
}
