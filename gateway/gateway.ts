/** One worker put together: what serves requests, without the process around it. */
import type { Logger } from 'pino'
import { Agent } from 'undici'
import type { Clock } from '../shared/clock.ts'
import { createAddressReader } from './client-address.ts'
import type { GatewaySettings } from './config.ts'
import { createHttp1Server } from './http1/server.ts'
import { createRequestIds } from './request-ids.ts'
import { handleRequest, type Edge, type RequestContext } from './request.ts'
import { createServiceEndpoints } from './session/endpoints.ts'
import { createSessionReader, type ProvenSession } from './session/read-session.ts'
import { createRelyingParty } from './session/relying-party.ts'
import { createAccessLog } from './telemetry/access-log.ts'
import { createTenantCompiler } from './tenants/compiled.ts'
import { createTenantDirectory } from './tenants/directory.ts'
import { followRelay } from './tenants/relay-follower.ts'
import type { PrimaryPort } from './tenants/relay-messages.ts'
import { createUpstreamRuntime } from './upstream/runtime.ts'
import { createUpstream } from './upstream/upstream.ts'

export interface GatewayWorld {
  readonly settings: Pick<GatewaySettings, 'timeouts' | 'trustedProxies'>
  readonly port: PrimaryPort
  readonly log: Logger
  readonly clock: Clock
}

export type Gateway = ReturnType<typeof createGateway>

const REALM_CONNECT_MS = 5000
const REALM_ANSWER_MS = 10_000

export function createGateway({ settings, port, log, clock }: GatewayWorld) {
  const { timeouts } = settings
  const runtime = createUpstreamRuntime({ clock })
  const compiler = createTenantCompiler({
    openUpstream: (origin) =>
      createUpstream({
        origin,
        runtime,
        timeouts: {
          connectMs: timeouts.connect,
          firstByteMs: timeouts.first_byte,
          idleMs: timeouts.idle,
        },
      }),
  })
  const directory = createTenantDirectory({
    clock,
    compile: compiler.compile,
    onRetire: (old) => compiler.retire(old),
  })
  const follower = followRelay({ port, directory, log })
  const dispatcher = new Agent({
    connect: { timeout: REALM_CONNECT_MS },
    headersTimeout: REALM_ANSWER_MS,
    bodyTimeout: REALM_ANSWER_MS,
  })
  const sessions = createSessionReader()
  const relyingParty = createRelyingParty({ dispatcher, nowMs: () => clock.nowMs() })

  /** Here at once; everywhere when the control plane has it. */
  function endSession(context: RequestContext, claims: ProvenSession['claims'], outcome: string) {
    const { tenantId } = context.tenant
    const notBefore = context.nowSeconds + 1
    const revoked = { all: 0, subjects: {}, sids: { [claims.sid]: notBefore } }
    directory.mergeRevoked(tenantId, revoked)
    follower.reportEvent({
      tenant_id: tenantId,
      outcome,
      subject: claims.sub,
      sid: claims.sid,
      ip: context.clientAddress,
      app_host: context.exchange.head.host,
    })
  }

  const edge: Edge = {
    byHost: directory.byHost,
    sessions,
    addresses: createAddressReader(settings.trustedProxies),
    clock,
    nextRequestId: createRequestIds(),
    serve: createServiceEndpoints({ sessions, relyingParty, endSession, log }),
    terminate(context) {
      const session = sessions.claimsOf(context)
      if (session !== undefined) endSession(context, session.claims, 'terminate')
    },
    active: ({ tenant, nowSeconds }, { claims }) =>
      follower.reportActivity({
        tenant_id: tenant.tenantId,
        sid: claims.sid,
        subject: claims.sub,
        at: nowSeconds,
      }),
  }

  const server = createHttp1Server({
    handle: (exchange) => handleRequest(exchange, edge),
    clock,
    timeouts: {
      headMs: timeouts.head,
      idleMs: timeouts.idle,
      keepAliveMs: timeouts.keep_alive,
    },
    onExchangeEnd: createAccessLog(log, () => clock.nowMs()),
    onError: (error) => log.error({ error }, 'a request failed inside'),
  })

  return {
    /** Settles when this worker has the whole state and may accept connections. */
    ready: follower.ready,
    server,
    async close() {
      server.close()
      follower.close()
      await compiler.close()
      runtime.close()
      await dispatcher.close()
    },
  }
}
