/**
 * What was allowed once is asked again while it lasts: WebSockets, event streams and downloads end
 * when a request like theirs would be refused. Nothing is registered for that: the wires know what
 * is in flight, and one sweep visits it, so a short request costs nothing.
 */
import type { Clock } from '../../shared/clock.ts'
import { decide, type Decision, type SessionVerdict } from '../../shared/enforcement/decide.ts'
import { fingerprintOf } from '../../shared/enforcement/fingerprint.ts'
import { seenIntervalSeconds } from '../../shared/enforcement/seen.ts'
import { judgeSession, type RevokedView } from '../../shared/enforcement/session.ts'
import { isStillTrusted } from '../../shared/enforcement/still-trusted.ts'
import type { SessionActivity } from '../../shared/snapshot.ts'
import type { Exchange } from '../exchange.ts'
import { RequestContext, takeBack } from '../request.ts'
import type { CompiledTenant } from '../tenants/compiled.ts'
import type { HostLookup } from '../tenants/directory.ts'
import { ENDINGS } from '../upgrade/frames.ts'
import type { OpenWebSocket } from '../upgrade/upgrades.ts'
import { NO_SESSION, type ProvenSession } from '../../shared/enforcement/read-session.ts'

export interface OpenStreamsWorld {
  readonly clock: Clock
  byHost(host: string): HostLookup<CompiledTenant>
  webSockets(): Iterable<OpenWebSocket>
  /** Every request whose answer has not been finished, over all wires. */
  eachInFlight(visit: (exchange: Exchange) => void): void
  /** A WebSocket is in use: its session is. */
  reportActivity(activity: SessionActivity): void
  /** Of one of them; the others have been judged all the same. */
  onError(error: unknown): void
}

export interface OpenStreams {
  /** Something was revoked or suspended: all are judged in a moment, once for many such calls. */
  judgeSoon(): void
  judge(): void
  close(): void
}

const SWEEP_MS = 500
/** A burst of revocations is one pass. */
const GATHER_MS = 10

export function createOpenStreams(world: OpenStreamsWorld): OpenStreams {
  const { clock, byHost } = world
  const sweepTimer = setInterval(judge, SWEEP_MS).unref()
  let soonTimer: NodeJS.Timeout | null = null

  function judge(): void {
    const nowSeconds = Math.floor(clock.nowMs() / 1000)
    for (const webSocket of world.webSockets()) guard(() => judgeWebSocket(webSocket, nowSeconds))
    world.eachInFlight((exchange) => guard(() => judgeExchange(exchange, nowSeconds)))
  }

  /** Each for itself: one that throws would save all behind it, and end the worker. */
  function guard(judgeOne: () => void): void {
    try {
      judgeOne()
    } catch (error) {
      world.onError(error)
    }
  }

  function judgeWebSocket(webSocket: OpenWebSocket, nowSeconds: number): void {
    const { context } = webSocket.exchange
    if (!(context instanceof RequestContext)) return
    const activeSeconds = Math.floor(webSocket.activeMs / 1000)
    const refusal = refusalOf(context, activeSeconds, nowSeconds)
    if (refusal === undefined) return reportActivity(context, activeSeconds)
    if (refusal.kind !== 'service') context.reason = refusal.reason
    webSocket.cut(refusal.kind === 'sign_in' ? ENDINGS.session : ENDINGS.tenant)
  }

  function judgeExchange(exchange: Exchange, nowSeconds: number): void {
    const { context } = exchange
    if (!(context instanceof RequestContext) || context.decision !== 'forward') return
    // An upload, a download and a wait have an end; an event stream that nobody looks at has none.
    const isActive = exchange.isOpenEnded !== true
    const activeSeconds = isActive ? nowSeconds : context.nowSeconds
    const refusal = refusalOf(context, activeSeconds, nowSeconds)
    if (refusal !== undefined) takeBack(context, refusal)
  }

  /** What a request like this one would meet now; undefined where it would be forwarded. */
  function refusalOf(
    context: RequestContext,
    activeSeconds: number,
    nowSeconds: number,
  ): Decision<never> | undefined {
    const found = byHost(context.exchange.head.host)
    if (found.kind === 'unknown') return HOST_UNKNOWN
    if (found.kind === 'held') return { kind: 'refuse', reason: found.reason, status: 503 }
    const { tenant, revoked } = found.served
    if (tenant.tenantId !== context.tenant.tenantId) return HOST_UNKNOWN
    const { session } = context
    if (session === undefined && tenant === context.allowedBy) return undefined
    const facts = { session, tenant, revoked, activeSeconds, nowSeconds }
    const verdict = session === undefined ? NO_SESSION : verdictOf(context, { ...facts, session })
    // Even where none is needed: the application was told whose stream this is.
    if (session !== undefined && verdict.kind === 'invalid')
      return { kind: 'sign_in', reason: verdict.reason }
    if (tenant === context.allowedBy) return undefined
    const decision = decide(tenant, context.path, verdict, (given) => given)
    if (decision.kind !== 'forward') return decision
    context.allowedBy = tenant
    return undefined
  }

  function reportActivity(context: RequestContext, activeSeconds: number): void {
    const { session, tenant } = context
    if (session === undefined) return
    const interval = seenIntervalSeconds(context.allowedBy.sessionRules.idleSeconds)
    if (activeSeconds - context.reportedSeconds < interval) return
    context.reportedSeconds = activeSeconds
    const { sid, sub: subject } = session.claims
    world.reportActivity({ tenant_id: tenant.tenantId, sid, subject, at: activeSeconds })
  }

  return {
    judgeSoon() {
      soonTimer ??= setTimeout(() => {
        soonTimer = null
        judge()
      }, GATHER_MS).unref()
    },
    judge,
    close() {
      clearInterval(sweepTimer)
      if (soonTimer !== null) clearTimeout(soonTimer)
    },
  }
}

const HOST_UNKNOWN = { kind: 'refuse', reason: 'host_unknown', status: 404 } as const

interface Facts {
  readonly session: ProvenSession
  readonly tenant: CompiledTenant
  readonly revoked: RevokedView
  readonly activeSeconds: number
  readonly nowSeconds: number
}

function verdictOf(context: RequestContext, facts: Facts): SessionVerdict<never> {
  const { session, tenant, revoked, activeSeconds, nowSeconds } = facts
  if (tenant !== context.allowedBy && !isStillTrusted(session.token, session.trust, tenant.trust))
    return { kind: 'invalid', reason: 'key_unknown' }
  // Requests of the session that came by here count as well, with the grain of their cookie.
  const seconds = Math.max(activeSeconds, context.nowSeconds, session.seen?.seconds ?? 0)
  const { fingerprint, boundTo } = bindingOf(context, session, tenant)
  const reason = judgeSession(
    {
      claims: session.claims,
      seen: { seconds, fingerprint: boundTo },
      fingerprint,
      nowSeconds,
    },
    tenant.sessionRules,
    revoked,
  )
  if (reason === undefined) return VALID
  return { kind: 'invalid', reason: reason === 'binding_terminate' ? 'binding_step_up' : reason }
}

/** `decide` hands it on, and nobody looks at it. */
const VALID = { kind: 'valid', session: undefined as never } as const

/** A client does not change while it is connected: this is only news when the setting is. */
function bindingOf(context: RequestContext, session: ProvenSession, tenant: CompiledTenant) {
  if (tenant.sessionRules.binding === context.tenant.sessionRules.binding)
    return { fingerprint: '', boundTo: '' }
  const fingerprint = fingerprintOf(context.userAgent, context.clientAddress)
  return { fingerprint, boundTo: session.seen?.fingerprint ?? '' }
}
