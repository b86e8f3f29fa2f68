/** What one request is to the edge: what was found out about it, and whom it can ask. */
import { isTraceparent } from '../../shared/trace-context.ts'
import type { Clock } from '../../shared/clock.ts'
import type { ClientAddress } from '../../shared/client-address.ts'
import type {
  Judged,
  MachineBrings,
  Outcome,
  ServiceEndpoint,
} from '../../shared/enforcement/decide.ts'
import { flat } from '../../shared/enforcement/flat.ts'
import { METHOD_OVERRIDES } from '../../shared/enforcement/foreign-headers.ts'
import type { MachinePass } from '../../shared/enforcement/machines.ts'
import { isNavigation } from '../../shared/enforcement/navigation.ts'
import { isOwnOrigin } from '../../shared/enforcement/own-origin.ts'
import type { RevokedView } from '../../shared/enforcement/session.ts'
import type { Reason, RefuseReason, SignInReason } from '../../shared/reasons.ts'
import type { Answer } from '../../shared/sign-in/answer.ts'
import { signInRequired } from '../../shared/sign-in/refusals.ts'
import type { ServiceRequest } from '../../shared/sign-in/service-request.ts'
import type { CompiledTenant } from '../tenants/compiled.ts'
import type { HostLookup, Served } from '../tenants/registry.ts'
import type { Upgrades } from '../upgrade/upgrades.ts'
import type { Exchange, RequestHead } from '../wire/exchange.ts'
import { valuesOf } from '../wire/websocket-request.ts'
import { isRequestId } from './request-ids.ts'
import type { MachineReader, ProvenSession, SessionReader } from './sessions.ts'
import { keptTracestate } from './trace.ts'

export interface Edge {
  byHost(host: string): HostLookup<CompiledTenant>
  /** Settles, within seconds, when it is known what there is of an indexed tenant. */
  load(tenantId: string, client: string): Promise<void>
  readonly sessions: SessionReader
  readonly machines: MachineReader
  /** Who has sent it, as far as the proxies on its way are believed. */
  addresses(exchange: Exchange): ClientAddress
  readonly clock: Clock
  /** A request failed inside, after its first turn. */
  onError(error: unknown): void
  readonly upgrades: Pick<Upgrades, 'hasRoom' | 'upstream'>
  nextRequestId(): string
  /** Whether this request, if all goes well, gets a line of the access log. */
  isRecorded(): boolean
  startTrace(isRecorded: boolean): string
  serve(context: RequestContext, endpoint: ServiceEndpoint): void
  /** The session moved to another client and its tenant wants it ended. */
  terminate(context: RequestContext): void
  /** A live session was used: told when its companion cookie is rewritten, so not every time. Or a machine. */
  active(context: RequestContext, session: ProvenSession): void
}

/** One request with what was found out about it; the tenant's snapshot is kept to its end. */
export class RequestContext implements ServiceRequest, Judged<ProvenSession> {
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
  readonly protocol: 'http' | 'https'
  /** The tenant's own address as browsers see it, never what a header says. */
  readonly edgeUrl: string
  readonly isCookieSecure: boolean
  /** For the log line. */
  decision: Outcome<never>['kind'] | 'probe' = 'refuse'
  reason: Reason | '' = ''
  /** Who the request was forwarded for, and the state of the tenant under which it still may be. */
  session: ProvenSession | undefined = undefined
  /** Where that is a machine. */
  machine: MachinePass | undefined = undefined
  allowedBy: CompiledTenant
  allowedSeconds: number
  /** Until when the control plane knows that the session was in use. */
  reportedSeconds: number

  constructor(exchange: Exchange, edge: Edge, { tenant, revoked }: Served<CompiledTenant>) {
    const { head } = exchange
    const client = edge.addresses(exchange)
    const queryAt = head.target.indexOf('?')
    exchange.context = this
    this.exchange = exchange
    this.edge = edge
    this.tenant = tenant
    this.allowedBy = tenant
    this.revoked = revoked
    this.cookies = head.cookies
    this.userAgent = head.userAgent
    // what counts or remembers clients would keep the head that a proxy has named it in
    this.clientAddress = client.isPeerTrusted ? knownOf(client) : client.address
    this.addressChain = client.chain
    this.path = queryAt === -1 ? head.target : head.target.slice(0, queryAt)
    this.query = queryAt === -1 ? '' : head.target.slice(queryAt + 1)
    this.nowSeconds = Math.floor(exchange.startedMs / 1000)
    this.allowedSeconds = this.nowSeconds
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
    const { origins: own } = this.tenant
    return isOwnOrigin({ origins, own, protocol: this.protocol, authority })
  }

  /** No page of another site asked for this. */
  get isFromOwnOrigin(): boolean {
    return this.isOwnPage(this.header('origin'))
  }

  get host(): string {
    return this.exchange.head.host
  }

  get method(): string {
    return this.exchange.head.method
  }

  get methodOverrides(): readonly string[] {
    return METHOD_OVERRIDES.flatMap((name) => this.header(name))
  }

  get isNavigation(): boolean {
    return isNavigation(this.exchange.head)
  }

  get isUpgrade(): boolean {
    return this.exchange.head.isUpgrade && this.exchange.takeSocket !== undefined
  }

  /** What was good last is enforced for as long as it takes (design: last known good). */
  get isStateLost(): boolean {
    return false
  }

  /** Every connection at the edge has an address, but a proxy may say of its client what nobody can read. */
  get isNetworkUnknown(): boolean {
    return this.clientAddress === '' && this.tenant.sessionRules.binding !== 'off'
  }

  readSession() {
    return this.edge.sessions.read(this)
  }

  get machineBrings(): MachineBrings {
    const { machine, authorization } = this.exchange.head
    return this.edge.machines.brings({ machine, authorization, tenant: this.tenant })
  }

  readMachine() {
    const { machine, authorization } = this.exchange.head
    const { cookies, clientAddress, nowSeconds, tenant } = this
    const asked = { cookies, clientAddress, nowSeconds, tenant }
    return this.edge.machines.read({ machine, authorization, ...asked })
  }

  /** What a request gets whose session does not hold, or is not there. */
  signIn(reason: SignInReason, maxAge?: number): Answer {
    if (reason === 'binding_terminate') this.edge.terminate(this)
    return signInRequired(this, reason, maxAge)
  }
}

/** '' where it cannot be read: its proxy's own would be in networks that are open to nobody but that. */
const knownOf = ({ address, isUnread }: ClientAddress): string => (isUnread ? '' : flat(address))

/** A request without a tenant: all that its log line can tell. */
export class UnservedContext {
  readonly requestId: string
  readonly reason: RefuseReason

  constructor(requestId: string, reason: RefuseReason) {
    this.requestId = requestId
    this.reason = reason
  }
}
