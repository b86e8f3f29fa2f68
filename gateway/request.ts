/** The life of one request. Read this first. */
import { performance } from 'node:perf_hooks'
import { challengeAnswer } from '../shared/acme-challenge.ts'
import { withoutSessionCookie } from '../shared/enforcement/cookies.ts'
import {
  decide,
  type Forward,
  type Outcome,
  type RefusedStatus,
} from '../shared/enforcement/decide.ts'
import type { AllowClause } from '../shared/fleet/access-rules.ts'
import { LIMITS } from '../shared/limits.ts'
import { carriedProof, checkPass } from '../shared/probe.ts'
import type { RefuseReason } from '../shared/reasons.ts'
import { refusal, type Denied } from '../shared/sign-in/refusals.ts'
import type { CompiledTenant } from './tenants/compiled.ts'
import type { HostLookup } from './tenants/registry.ts'
import { RequestContext, UnservedContext, type Edge } from './request/context.ts'
import { createInTurns } from './request/in-turns.ts'
import { respond } from './request/respond.ts'
import type { ProvenSession } from './request/sessions.ts'
import { forwardingLines } from './upstream/forwarding-lines.ts'
import { valuesOf } from './wire/websocket-request.ts'
import type { Exchange, ForwardPlan, RequestHead } from './wire/exchange.ts'
import type { Upstream } from './wire/upstream-call.ts'

export function handleRequest(exchange: Exchange, edge: Edge): void {
  const beganMs = performance.now()
  const found = edge.byHost(exchange.head.host)
  if (found.kind === 'indexed') void whenLoaded(exchange, edge, found.tenantId)
  else begin(exchange, edge, found)
  chargeTime(exchange, performance.now() - beganMs)
}

/**
 * A path of a few hundred bytes can take a thousand times as long as another one to be read in all ways,
 * and a packet holds sixty of them: whatever it was that took so long, its site pays for it.
 */
function chargeTime(exchange: Exchange, tookMs: number): void {
  const requests = Math.floor(tookMs / LIMITS.requestMs)
  if (requests > 0) exchange.charge(requests)
}

/** Its tenant was not asked for lately: it is waited for, and then looked for once more. */
async function whenLoaded(exchange: Exchange, edge: Edge, tenantId: string): Promise<void> {
  exchange.context = new UnservedContext(edge.nextRequestId(), 'not_ready')
  try {
    const { address } = edge.addresses(exchange)
    await edge.load(tenantId, address)
    whenItIsThere(() => beginLoaded(exchange, edge))
  } catch (error) {
    failLoaded(exchange, edge, error)
  }
}

const whenItIsThere = createInTurns()

function beginLoaded(exchange: Exchange, edge: Edge): void {
  const beganMs = performance.now()
  try {
    begin(exchange, edge, edge.byHost(exchange.head.host))
  } catch (error) {
    failLoaded(exchange, edge, error)
  }
  chargeTime(exchange, performance.now() - beganMs)
}

function failLoaded(exchange: Exchange, edge: Edge, error: unknown): void {
  edge.onError(error)
  refuse(exchange, 'not_ready', 503)
}

function begin(exchange: Exchange, edge: Edge, found: HostLookup<CompiledTenant>): void {
  if (found.kind === 'unknown') return refuseUnserved(exchange, edge, 'host_unknown', 404)
  if (found.kind === 'indexed') return refuseUnserved(exchange, edge, 'not_ready', 503)
  if (found.kind === 'held') return refuseUnserved(exchange, edge, found.reason, 503)
  const context = new RequestContext(exchange, edge, found.served)
  const challenge = challengeOf(context)
  if (challenge !== undefined) return answerChallenge(context, challenge)
  const probeKey = context.path === context.tenant.health ? keyOfOwnProbe(context) : undefined
  if (probeKey !== undefined) return carryProbe(context, probeKey)
  if (belongsOverTls(context)) return moveToTls(context)
  return carryOut(context, decide(context.tenant, context))
}

/**
 * A certificate authority asks whether this host is ours, over http or behind a redirect. The answer
 * follows from the question, so every gateway has it before anybody is told of an order; it is of use
 * to our own account alone. Where no certificate is ordered, the application may be asking for its own.
 */
function challengeOf({ tenant: { acme }, exchange: { head } }: RequestContext): string | undefined {
  if (acme === undefined || head.method !== 'GET') return undefined
  const answer = challengeAnswer(head.target, acme.thumbprint)
  return answer !== undefined && acme.hostnames.includes(head.host) ? answer : undefined
}

/** Part of it is a stranger's: nothing that a browser would run or show. */
function answerChallenge(context: RequestContext, body: string): void {
  const { exchange } = context
  context.decision = 'service'
  const headerLines = [
    'Content-Type: application/octet-stream',
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
  ]
  respond(exchange, { status: 200, headerLines, body })
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
      context.exchange.charge(LIMITS.ownEndpointRequests)
      return context.edge.serve(context, outcome.endpoint)
    case 'sign_in':
      return respond(context.exchange, context.signIn(outcome.reason, outcome.maxAge))
    case 'refuse':
      if (outcome.reason === 'sealed' && keyOfOwnProbe(context) !== undefined) markAsProbe(context)
      return refuse(
        context.exchange,
        outcome.reason,
        outcome.status,
        deniedBy(context, outcome.ways),
      )
  }
}

const deniedBy = (
  { tenant, edgeUrl, path }: RequestContext,
  ways: readonly AllowClause[] | undefined,
): Denied | undefined => ways && { ways, contact: tenant.accessContact, url: edgeUrl + path }

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
  if (!edge.upgrades.hasRoom(claim, tenant.upstream.way))
    return refuseUpgrade(context, 'websockets_exhausted', 503)
  const { authority, cookies } = exchange.head
  const head = outcome.isForeignPage
    ? { cookies: withoutSessionCookie(cookies), authority }
    : exchange.head
  const plan = planOf(context, outcome, tenant.upstream, head)
  const responseLines = plan.responseLines + plan.privateCookieLine
  const { way } = tenant.upstream
  const upstream = edge.upgrades.upstream({ exchange, origin, way, responseLines, ...claim })
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
  { session, machine, cookies, isSeenDue }: Forward<ProvenSession>,
  upstream: Upstream,
  head: Pick<RequestHead, 'authority' | 'cookies'>,
): ForwardPlan {
  context.session = session
  context.machine = machine
  if (isSeenDue || machine !== undefined) context.edge.active(context, session!)
  return {
    upstream,
    client: context.clientAddress,
    // With a session, `head.cookies` is what the session was just read from.
    requestLines:
      session === undefined
        ? forwardingLines(head, context)
        : session.carried.forwarding(
            head.authority,
            session.cookies || head.cookies,
            context,
            context.tenant.access,
          ),
    keptLines:
      machine?.tokenEndsAt === undefined
        ? undefined
        : withoutAuthorization(context.exchange.head.keptLines),
    responseLines: `X-Request-Id: ${context.requestId}\r\n`,
    isPrivate: session !== undefined,
    privateCookieLine: cookies.length === 0 ? '' : cookies.map(cookieLine).join(''),
  }
}

/** It was for us: nobody behind us is to be able to come in with it. */
const withoutAuthorization = (lines: string) => lines.replaceAll(/^authorization:.*\r\n/gim, '')

const cookieLine = (cookie: string) => `Set-Cookie: ${cookie}\r\n`

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

function refuse(
  exchange: Exchange,
  reason: RefuseReason,
  status: RefusedStatus,
  denied?: Denied,
): void {
  const { head } = exchange
  const header = (name: string) => valuesOf(head.keptLines, name)
  respond(exchange, refusal({ head, header }, reason, status, denied))
}

/**
 * Our control plane checks that its requests travel through here to the application. It may have
 * signed the pass under the client secret before the newest one, and knows the proof by the same.
 */
function keyOfOwnProbe(context: RequestContext): Buffer | undefined {
  const { exchange, tenant, nowSeconds } = context
  const { probe, probePass } = exchange.head
  if (probePass === '' || tenant.status !== 'published') return undefined
  return tenant.probeKeys.find((key) => checkPass(key, probePass, probe, nowSeconds))
}

/** Nobody is trying anything: it is neither counted nor told of. */
function markAsProbe(context: RequestContext): void {
  context.decision = 'probe'
  context.reason = 'probe'
}

function carryProbe(context: RequestContext, probeKey: Buffer): void {
  const { exchange, tenant, requestId } = context
  markAsProbe(context)
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
