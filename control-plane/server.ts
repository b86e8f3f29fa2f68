/**
 * The public listener: realms and API behind one address. Every answer has its request id, and
 * every request its one line in the log, without the query: keys and tickets travel there.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import type { Logger } from 'pino'
import { REALMS_PREFIX } from '../shared/issuer.ts'
import { createAddressReader } from '../shared/client-address.ts'
import { SECOND_MS, type Clock } from '../shared/clock.ts'
import { Refusal } from '../shared/errors.ts'
import { hasTooManyFields } from '../shared/form-fields.ts'
import { LIMITS } from '../shared/limits.ts'
import type { createApp } from './app.ts'
import type { LiveKey } from './keys/live-key.ts'
import { createAdmission, type Priority } from './listener/admission.ts'
import { addressOf, nameClient } from './listener/client-address.ts'
import { guardConnections, type ConnectionLimits } from './listener/connections.ts'
import { continueWhenRead, drainAfterAnswer } from './listener/early-answers.ts'
import { isHangUp } from './listener/hang-up.ts'
import type { SendToTls } from './listener/without-tls.ts'
import { createKnownCredentials } from './listener/known-credentials.ts'
import { stopParsing } from './listener/parsed-in-slices.ts'
import { refuse, refuseBrokenRequest, refuseTunnel } from './listener-refusals.ts'
import { withoutStopToken } from './mail/alert-links.ts'
import type { Realms } from './realm/realms.ts'
import { noTracing, type Tracing } from './tracing/tracing.ts'

export interface ServerWorld {
  readonly app: ReturnType<typeof createApp>
  readonly realms: Pick<Realms, 'handle'>
  readonly log: Logger
  readonly clock: Clock
  /** Balancers in front, as CIDRs: only they say who the client is. */
  readonly trustedProxies?: readonly string[] | undefined
  /** They say so with a PROXY header. */
  readonly proxyProtocol?: boolean | undefined
  readonly connectionLimits?: Partial<ConnectionLimits> | undefined
  /** Whose requests go before all others. */
  readonly operatorKey?: LiveKey | undefined
  readonly tracing?: Pick<Tracing, 'request'> | undefined
  /** With TLS of our own: answers what came without it, or leaves it to us. */
  readonly sendToTls?: SendToTls | undefined
}

const INVALID = new Refusal('request_invalid')
const UNREAD = new Refusal('unavailable', { retry_after: 10 })
const FULL = new Refusal('unavailable', { retry_after: 1 })
const BEARER = /^Bearer ([\x21-\x7e]{1,512})$/i
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const HEAD_MS = 10 * SECOND_MS

export function createPublicServer(world: ServerWorld): Server {
  const { app, realms, log, clock, trustedProxies = [], proxyProtocol = false, operatorKey } = world
  const { tracing = noTracing() } = world
  const admission = createAdmission()
  const credentials = createKnownCredentials({ clock })
  const readAddress = createAddressReader(trustedProxies)
  /** On behalf of nobody: the answer of one request may begin the next one of its connection. */
  const asNobody = AsyncLocalStorage.snapshot()
  const api = getRequestListener((request, env) => app.fetch(request, env), {
    overrideGlobalObjects: false,
    autoCleanupIncoming: false, // drainAfterAnswer does it, and lets the answer arrive
    errorHandler: () => Response.json(INVALID.body(), { status: 400 }),
  })

  function answer(
    request: IncomingMessage,
    response: ServerResponse,
    work: (path: string) => void = (path) => admit(path, request, response),
  ) {
    if (connections.isEnding(request.socket)) return connections.ignore(request.socket)
    const startedMs = clock.steadyMs()
    const requestId = randomUUID()
    const path = pathOf(request.url)
    const method = request.method
    response.setHeader('X-Request-Id', requestId)
    const { traceparent = '' } = request.headers
    const attributes = { 'http.request.method': methodOf(method), request_id: requestId }
    const span = tracing.request('request', { attributes }, String(traceparent))
    response.once('close', () => {
      const isCut = !response.writableFinished
      const ms = Math.round(clock.steadyMs() - startedMs)
      const status = response.statusCode
      span.set('http.response.status_code', status)
      span.end(isCut || status >= 500)
      const shown = withoutStopToken(path)
      const line = { kind: 'request', request_id: requestId, method, path: shown, status, ms }
      if (isCut) log.info({ ...line, cut: true }, 'request')
      else log[isRoutine(path, status) ? 'debug' : 'info'](line, 'request')
      // once we stop, nobody waits for a kept-alive connection's next request
      if (!server.listening) setImmediate(() => server.closeIdleConnections())
    })
    nameClient(request, connections.peerOf(request.socket), readAddress)
    drainAfterAnswer(request, response)
    const begin = () => {
      if (world.sendToTls?.(request, response, connections.peerOf(request.socket).address) !== true)
        asNobody(() => span.run(() => work(path)))
    }
    const isBegun = connections.begin(request.socket, response, begin)
    if (!isBegun) refuse(response, UNREAD)
  }

  function admit(path: string, request: IncomingMessage, response: ServerResponse) {
    if (connections.isHoldingTooMuch(request.socket)) return refuse(response, UNREAD)
    const isOdd = request.headers.host === undefined || hasTooManyFields(request.url ?? '')
    if (isOdd) return refuse(response)
    const begin = () => void handle(path, request, response)
    if (!admission.enter(rankOf(request), addressOf(request), begin)) refuse(response, FULL)
  }

  async function handle(path: string, request: IncomingMessage, response: ServerResponse) {
    if (request.socket.destroyed) return // gone while it waited
    if (connections.isHoldingTooMuch(request.socket)) return refuse(response, UNREAD)
    try {
      if (path.startsWith(REALMS_PREFIX)) await realms.handle(request, response)
      else await api(request, response)
    } catch (error) {
      if (!isHangUp(error, request)) log.error({ error }, 'a request failed outside of its handler')
      response.destroy()
    }
  }

  function rankOf(request: IncomingMessage): Priority {
    const { authorization, cookie } = request.headers
    const [, key] = BEARER.exec(authorization ?? '') ?? []
    if (key !== undefined && operatorKey?.opens(key)) return 'operator'
    if (credentials.isKnown(request)) return 'known'
    return authorization === undefined && cookie === undefined ? 'stranger' : 'keyed'
  }

  const server = createServer(
    {
      maxHeaderSize: LIMITS.headBytesMax,
      headersTimeout: HEAD_MS,
      requestTimeout: 30 * SECOND_MS,
      keepAliveTimeout: 75 * SECOND_MS,
      connectionsCheckingInterval: SECOND_MS,
      requireHostHeader: false, // refused below, with the body and the id of all answers
    },
    (request: IncomingMessage, response: ServerResponse) => answer(request, response),
  )
  const connections = guardConnections(server, {
    trustedProxies,
    proxyProtocol,
    headMs: HEAD_MS,
    clock,
    log,
    limits: world.connectionLimits,
  })
  server.maxHeadersCount = LIMITS.headerCountMax
  server.on('clientError', refuseBrokenRequest)
  server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    stopParsing(request.socket) // of which Node makes another stream while a body is on its way
    refuseTunnel(socket)
  })
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    continueWhenRead(request, response)
    answer(request, response)
  })
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    answer(request, response, () => refuse(response)),
  )
  return server
}

/** A check-in that went well: every machine comes hourly, and what it wrote is its last contact. */
const isRoutine = (path: string, status: number) => path === '/agent/v1/checkin' && status === 200

/** A stranger may call it what they like. */
const methodOf = (method = '') => (METHODS.includes(method) ? method : '_OTHER')

function pathOf(url = ''): string {
  const query = url.search(/[?#]/)
  return query === -1 ? url : url.slice(0, query)
}
