/**
 * What was allowed once is asked again while it lasts: WebSockets, event streams and downloads end
 * when a request like theirs would be refused. Nothing is registered for that: the protocols know what
 * is in flight, and one sweep visits it, so a short request costs nothing.
 */
import { nowSeconds as secondsOf, SECOND_MS, type Clock } from '../../shared/clock.ts'
import type { Outcome } from '../../shared/enforcement/decide.ts'
import { fingerprintOf } from '../../shared/enforcement/fingerprint.ts'
import { seenIntervalSeconds } from '../../shared/enforcement/seen.ts'
import { isOutdated, judgeAgain } from '../../shared/enforcement/judge-again.ts'
import { PathBudget } from '../../shared/enforcement/path-budget.ts'
import type { SessionActivity } from '../../shared/fleet/snapshot.ts'
import type { Exchange } from '../wire/exchange.ts'
import { RequestContext } from '../request/context.ts'
import type { CompiledTenant } from '../tenants/compiled.ts'
import type { HostLookup } from '../tenants/registry.ts'
import { ENDINGS } from '../upgrade/frames.ts'
import type { OpenWebSocket } from '../upgrade/upgrades.ts'
import type { ProvenSession } from '../request/sessions.ts'

interface OpenStreamsWorld {
  readonly clock: Clock
  byHost(host: string): HostLookup<CompiledTenant>
  webSockets(): Iterable<OpenWebSocket>
  /** Every request whose answer has not been finished, over all protocols. */
  eachInFlight(callback: (exchange: Exchange) => void): void
  /** It was forwarded and is refused now: instead of its answer, or by cutting what has begun. */
  takeBack(context: RequestContext, refusal: Outcome<never>): void
  /** A WebSocket is in use: its session is. */
  reportActivity(activity: SessionActivity): void
  /** Of one of them; the others have been judged all the same. */
  onError(error: unknown): void
}

export const SWEEP_MS = 500
/** A burst of revocations is one pass. */
const GATHER_MS = 10

export function createOpenStreams(world: OpenStreamsWorld) {
  const { clock, byHost } = world
  const sweepTimer = setInterval(() => judge(), SWEEP_MS).unref()
  let soonTimer: NodeJS.Timeout | null = null
  /** Tenants of which something is to be judged soon. */
  let soonOf = new Set<string>()
  const paths = new PathBudget()
  let rest: NodeJS.Immediate | null = null

  /** All, or what those tenants have open: else one that revokes much has all others' looked at each time. */
  function judge(only?: ReadonlySet<string>): void {
    paths.beginTurn()
    const nowSeconds = secondsOf(clock)
    const isLeftOut = ({ context }: Exchange) =>
      only !== undefined && context instanceof RequestContext && !only.has(context.tenant.tenantId)
    for (const webSocket of world.webSockets())
      if (!isLeftOut(webSocket.exchange)) guard(() => judgeWebSocket(webSocket, nowSeconds))
    world.eachInFlight((exchange) => {
      if (!isLeftOut(exchange)) guard(() => judgeExchange(exchange, nowSeconds))
    })
    if (paths.isSpent)
      rest ??= setImmediate(() => {
        rest = null
        judge()
      })
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
    // Sessions go by the wall clock, which may have been set since the client was heard.
    const silentMs = clock.steadyMs() - webSocket.activeMs
    const activeSeconds = Math.floor((clock.nowMs() - silentMs) / SECOND_MS)
    const refusal = refusalOf(context, activeSeconds, nowSeconds, true)
    if (refusal === undefined) return reportActivity(context, activeSeconds)
    if (refusal.kind !== 'service') context.reason = refusal.reason
    webSocket.cut(refusal.kind === 'sign_in' ? ENDINGS.session : ENDINGS.tenant)
  }

  function judgeExchange(exchange: Exchange, nowSeconds: number): void {
    const { context } = exchange
    if (!(context instanceof RequestContext) || context.decision !== 'forward') return
    // An upload, a download and a wait have an end; an event stream that nobody looks at has none.
    const isOpenEnded = exchange.isOpenEnded === true
    const activeSeconds = isOpenEnded ? context.nowSeconds : nowSeconds
    const refusal = refusalOf(context, activeSeconds, nowSeconds, isOpenEnded)
    if (refusal !== undefined) world.takeBack(context, refusal)
  }

  /** What a request like this one would meet now; undefined where it would be forwarded. */
  function refusalOf(
    context: RequestContext,
    activeSeconds: number,
    nowSeconds: number,
    isOpenEnded: boolean,
  ): Outcome<never> | undefined {
    const found = byHost(context.exchange.head.host)
    if (found.kind === 'unknown') return HOST_UNKNOWN
    // Whatever is open is looked at more often than tenants are let go of.
    if (found.kind === 'indexed') return { kind: 'refuse', reason: 'not_ready', status: 503 }
    if (found.kind === 'held') return { kind: 'refuse', reason: found.reason, status: 503 }
    const { tenant, revoked } = found.served
    if (tenant.tenantId !== context.tenant.tenantId) return HOST_UNKNOWN
    const { session, machine, path, allowedBy } = context
    // Requests of the session that came by here count as well, with the grain of their cookie.
    const usedSeconds = Math.max(activeSeconds, context.nowSeconds, session?.seen?.seconds ?? 0)
    const times = { usedSeconds, nowSeconds }
    const client = clientOf(context, session, tenant)
    const { host, method, clientAddress } = context
    const asked = { host, method, path, clientAddress }
    const allowedSeconds = isOpenEnded ? context.allowedSeconds : Infinity
    const states = { allowedBy, allowedSeconds, tenant, revoked }
    const facts = { ...asked, session, machine, ...states, ...times, ...client }
    // else in the next turn, and until then it stays as it was allowed, if its session holds
    const isStale = isOutdated(facts)
    const isPathDue = !isStale || paths.isDue(path)
    // read from its headers where somebody looks at them: not in each sweep of all that is open
    const methodOverrides = isStale && isPathDue ? context.methodOverrides : []
    const refusal = judgeAgain({ ...facts, methodOverrides, isPathDue })
    if (refusal !== undefined || !isPathDue) return refusal
    context.allowedBy = tenant
    if (isOpenEnded) context.allowedSeconds = nowSeconds
    return undefined
  }

  function reportActivity(context: RequestContext, activeSeconds: number): void {
    const { session, tenant } = context
    if (session === undefined || session.claims.serviceId !== undefined) return
    const interval = seenIntervalSeconds(context.allowedBy.sessionRules.idleSeconds)
    if (activeSeconds - context.reportedSeconds < interval) return
    context.reportedSeconds = activeSeconds
    const { sid, sub: subject } = session.claims
    world.reportActivity({ tenant_id: tenant.tenantId, sid, subject, at: activeSeconds })
  }

  return {
    /** Something of a tenant was revoked, or it was suspended: in a moment, once for many such calls. */
    judgeSoon(tenantId: string) {
      soonOf.add(tenantId)
      soonTimer ??= setTimeout(() => {
        const tenants = soonOf
        soonTimer = null
        soonOf = new Set()
        judge(tenants)
      }, GATHER_MS).unref()
    },
    judge: () => judge(),
    close() {
      clearInterval(sweepTimer)
      if (rest !== null) clearImmediate(rest)
      if (soonTimer !== null) clearTimeout(soonTimer)
    },
  }
}

const HOST_UNKNOWN = { kind: 'refuse', reason: 'host_unknown', status: 404 } as const

const SAME_CLIENT = { fingerprint: '', boundTo: '' }

/** A client does not change while it is connected: this is only news when the setting is. */
function clientOf(
  context: RequestContext,
  session: ProvenSession | undefined,
  tenant: CompiledTenant,
) {
  if (tenant.sessionRules.binding === context.tenant.sessionRules.binding) return SAME_CLIENT
  const fingerprint = fingerprintOf(context.userAgent, context.clientAddress)
  return { fingerprint, boundTo: session?.seen?.fingerprint ?? '' }
}
