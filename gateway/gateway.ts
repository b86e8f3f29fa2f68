/** One worker put together: what serves requests, without the process around it. */
import type { Logger } from 'pino'
import type { Clock } from '../shared/clock.ts'
import { createMachineUses, USES_TOLD_MS } from '../shared/enforcement/machine-uses.ts'
import { endedFrom } from '../shared/enforcement/session.ts'
import { createCallbackAdmission } from '../shared/sign-in/callback-admission.ts'
import { createRelyingParty } from '../shared/sign-in/relying-party.ts'
import { seldomWarnings } from '../shared/sign-in/seldom-warnings.ts'
import { terminate } from '../shared/sign-in/service-request.ts'
import { createAddressReader, stranger } from '../shared/client-address.ts'
import { networkList } from '../shared/networks.ts'
import type { GatewaySettings } from './config.ts'
import { createRequestIds } from './request/request-ids.ts'
import { handleRequest, takeBack } from './request.ts'
import type { Edge, RequestContext } from './request/context.ts'
import { createOpenStreams } from './session/open-streams.ts'
import { createServiceEndpoints } from './session/endpoints.ts'
import { createOwnSessions } from './session/own-sessions.ts'
import { createRealmClient } from './session/realm-client.ts'
import {
  createGatewayMachines,
  createGatewaySessions,
  type ProvenSession,
} from './request/sessions.ts'
import { createLogSink, type LineSink } from './telemetry/line-writer.ts'
import { createRefusalSample } from './telemetry/refusal-sample.ts'
import { createTraceExport } from './telemetry/trace-export.ts'
import { createWorkerTelemetry } from './telemetry/worker-telemetry.ts'
import { createTenantCompiler, type CompiledTenant } from './tenants/compiled.ts'
import { createTenantLoading } from './tenants/loading.ts'
import { createTenantRegistry, type HostLookup } from './tenants/registry.ts'
import { followRelay } from './fleet/relay-follower.ts'
import type { Correction } from './fleet/told-time.ts'
import type { PrimaryPort } from './fleet/relay-messages.ts'
import { createConnectors } from './connectors/connectors.ts'
import { NO_WAY } from './connectors/open-failures.ts'
import type { ConnectorDoor } from './tls/tls-listener.ts'
import { createUpgrades } from './upgrade/upgrades.ts'
import { createUpstreamRuntime } from './upstream/runtime.ts'
import { createUpstream } from './upstream/upstream.ts'
import { createProtocolAnswers } from './listen/protocol-answers.ts'
import { createProtocols } from './listen/protocols.ts'

interface GatewayWorld {
  /** Where the access log goes; without it into `log`. */
  readonly lines?: LineSink
  readonly settings: Pick<GatewaySettings, 'timeouts' | 'trustedProxies' | 'fleetKey'> &
    Partial<Pick<GatewaySettings, 'accessLogSample' | 'traces' | 'id'>>
  readonly port: PrimaryPort
  readonly log: Logger
  readonly clock: Clock
  /** Of `clock`, by the control plane's. */
  readonly onCorrection?: ((correction: Correction) => void) | undefined
  /** Where connectors come in; undefined: nowhere. */
  readonly door?: Omit<ConnectorDoor, 'accept' | 'onCrowded'> & {
    readonly gatewayId: string
  }
}

function certificateOf(found: HostLookup<CompiledTenant>, host: string) {
  if (found.kind !== 'served') return undefined
  return found.served.tenant.certificates.get(host)?.context
}

const NO_HOPS = { hopsOpened: 0, hopsFailed: 0, hopsServed: 0 }
const UNREAD_CLIENT =
  'X-Forwarded-For of a trusted proxy cannot be read, so its client is in no network: have it append an address'

export function createGateway(world: GatewayWorld) {
  const { settings, port, log, clock, lines, door } = world
  const { timeouts } = settings
  const upstreamTimeouts = {
    connectMs: timeouts.connect,
    firstByteMs: timeouts.first_byte,
    idleMs: timeouts.idle,
  }
  const runtime = createUpstreamRuntime({ clock })
  const isBalancer = networkList(settings.trustedProxies)
  const connectors =
    door &&
    createConnectors({
      ...door,
      tenant: (tenantId) => registry.byId(tenantId)?.tenant,
      connectMs: timeouts.connect,
      report: (report) => port.send({ channel: 'tenants', type: 'connectors', ...report }),
      clock,
      log,
    })
  const compiler = createTenantCompiler({
    openUpstream: ({ tenant_id: tenantId, mode, origin }) =>
      createUpstream({
        origin,
        ...(mode === 'connector' && { way: connectors?.wayTo(tenantId) ?? NO_WAY }),
        runtime,
        timeouts: upstreamTimeouts,
        isExempt: isBalancer,
      }),
  })
  const registry = createTenantRegistry({
    clock,
    compile: compiler.compile,
    onRetire(old, next) {
      compiler.retire(old)
      connectors?.judge(old.tenantId)
      if (old.status !== next?.status) openStreams.judgeSoon(old.tenantId)
    },
    onRevoked: (tenantId) => openStreams.judgeSoon(tenantId),
  })
  const sessions = createGatewaySessions()
  const refusals = createRefusalSample({
    clock,
    report: (event) => follower.reportEvent(event),
  })
  const { traces: traceSettings = null, id: gatewayId = '' } = settings
  const traces = traceSettings && createTraceExport({ ...traceSettings, gatewayId, clock, log })
  const telemetry = createWorkerTelemetry({
    traces: traces ?? undefined,
    clock,
    refusals,
    lines: lines ?? createLogSink((entry) => log.info(entry)),
    sample: settings.accessLogSample ?? 1,
    random: Math.random,
    verifyStats: sessions.stats,
    hops: () => connectors?.counts() ?? NO_HOPS,
  })
  const { onExchangeEnd } = telemetry
  const upgrades = createUpgrades({
    lookup: runtime.lookup,
    deadlines: runtime.deadlines,
    clock,
    timeouts: upstreamTimeouts,
    isExempt: (address) => address === '' || isBalancer(address), // a balancer's, who does not say whose
    onEnd: onExchangeEnd,
  })
  const openStreams = createOpenStreams({
    clock,
    byHost: registry.byHost,
    webSockets: upgrades.open,
    eachInFlight: (callback) => server.eachInFlight(callback),
    takeBack,
    reportActivity: (activity) => follower.reportActivity(activity),
    onError: (error) => log.error({ error }, 'something open could not be judged'),
  })
  const loading = createTenantLoading({
    want: (tenantId) => follower.want(tenantId),
    clock,
    isExempt: isBalancer,
  })
  const follower = followRelay({
    port,
    registry,
    log,
    onWanted: loading.settled,
    onCorrection: world.onCorrection,
    onSettings({ ticket_secret, gateways = [] }) {
      server.shareTickets(ticket_secret)
      connectors?.followGateways(gateways)
    },
    onHolders: (tenants) => connectors?.holdersAre(tenants),
    onConnectorsHere: (tenants) => connectors?.hereAre(tenants),
  })
  const realm = createRealmClient()
  const relyingParty = createRelyingParty({ fetch: realm.fetch, clock })

  const warnings = seldomWarnings(log, clock)
  const ownSessions = createOwnSessions({ realm, clock, log: warnings })

  function refuseSession({ tenant, nowSeconds }: RequestContext, sid: string, issued: number) {
    const revoked = { all: 0, subjects: {}, sids: { [sid]: endedFrom(nowSeconds, issued) } }
    registry.mergeRevoked(tenant.tenantId, revoked)
  }

  /** Here at once; everywhere when the control plane has it. */
  function endSession(context: RequestContext, claims: ProvenSession['claims'], outcome: string) {
    const { tenantId } = context.tenant
    refuseSession(context, claims.sid, claims.iat)
    follower.reportEvent({
      tenant_id: tenantId,
      outcome,
      subject: claims.sub,
      sid: claims.sid,
      issued_at: claims.iat,
      ...(context.clientAddress !== '' && { ip: context.clientAddress }),
      app_host: context.exchange.head.host,
    })
  }

  const readAddress = createAddressReader(settings.trustedProxies)
  const nextRequestId = createRequestIds()
  const machineUses = createMachineUses((use) => {
    const {
      tenantId: tenant_id,
      serviceId: subject,
      secretId: sid,
      atSeconds: at,
      ip,
      requests,
    } = use
    follower.reportActivity({ tenant_id, sid, subject, at, ...(ip !== '' && { ip }), requests })
  })
  const usesTimer = setInterval(machineUses.flush, USES_TOLD_MS).unref()
  const endpoints = {
    sessions,
    relyingParty,
    callbacks: createCallbackAdmission(clock),
    ownSessions,
    clock,
    endSession,
    refuseSession,
    log: warnings,
  }
  const edge: Edge = {
    byHost: registry.byHost,
    load: loading.load,
    onError: (error) => log.error({ error }, 'a request failed inside'),
    sessions,
    machines: createGatewayMachines(sessions, clock),
    addresses({ peerAddress: peer, namesNobody, head }) {
      if (namesNobody) return stranger(peer)
      const found = readAddress(peer, head.forwardedFor)
      if (found.isUnread) warnings.warn({ proxy: peer }, UNREAD_CLIENT)
      return found
    },
    clock,
    upgrades,
    nextRequestId,
    isRecorded: telemetry.isRecorded,
    startTrace: telemetry.startTrace,
    serve: createServiceEndpoints(endpoints),
    terminate: (context) => terminate(context, endpoints),
    active({ tenant, nowSeconds, machine, clientAddress }, { claims }) {
      const { tenantId: tenant_id } = tenant
      if (machine !== undefined)
        return machineUses.note(tenant_id, machine, clientAddress, nowSeconds)
      const { sid, sub: subject } = claims
      follower.reportActivity({ tenant_id, sid, subject, at: nowSeconds })
    },
  }

  const server = createProtocols({
    handle: (exchange) => handleRequest(exchange, edge),
    clock,
    timeouts: {
      headMs: timeouts.head,
      idleMs: timeouts.idle,
      keepAliveMs: timeouts.keep_alive,
    },
    onExchangeEnd,
    onRefusal: telemetry.onRefusal,
    isExempt: isBalancer,
    onError: edge.onError,
    ...createProtocolAnswers(nextRequestId),
    contextFor(host: string, client: string) {
      const found = registry.byHost(host)
      if (found.kind !== 'indexed') return certificateOf(found, host)
      const loaded = loading.load(found.tenantId, client)
      return loaded.then(() => certificateOf(registry.byHost(host), host))
    },
    fleetKey: settings.fleetKey,
    connectors: door &&
      connectors && {
        ...door,
        accept: connectors.accept,
        onCrowded: connectors.onCrowded,
      },
    onAbuse: (kind, client) => log.warn({ kind, client }, 'a connection was ended'),
  })

  return {
    /** Settles when this worker has the whole state and may accept connections. */
    ready: follower.ready,
    server: {
      ...server,
      drain(graceMs?: number) {
        upgrades.drain()
        return Promise.all([server.drain(graceMs), connectors?.drain()])
      },
    },
    /** What has been counted since the last call, and how things stand. */
    telemetry: {
      take() {
        refusals.send()
        return telemetry.take()
      },
      gauges() {
        const gauges = { upstreamSockets: 0, upstreamIdle: 0, upstreamWaiting: 0 }
        for (const { upstream } of registry.tenants()) {
          const { sockets, idle, waiting } = upstream.stats()
          gauges.upstreamSockets += sockets
          gauges.upstreamIdle += idle
          gauges.upstreamWaiting += waiting
        }
        let inFlight = 0
        server.eachInFlight(() => inFlight++)
        const webSockets = upgrades.count()
        const { over: hopsOver = 0, served: hopsServed = 0 } = connectors?.hopConnections() ?? {}
        return {
          ...gauges,
          hopsOver,
          hopsServed,
          inFlight,
          webSockets,
          connections: server.connections(),
        }
      },
    },
    async close() {
      openStreams.close()
      connectors?.close()
      upgrades.close()
      server.close()
      refusals.send()
      clearInterval(usesTimer)
      machineUses.flush()
      follower.close()
      await compiler.close()
      runtime.close()
      await realm.close()
      await traces?.close()
    },
  }
}
