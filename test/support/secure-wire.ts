/** Real TLS around the protocols: two hosts with certificates, a trivial decision, clients for both. */
import { once } from 'node:events'
import { connect as connectHttp2, constants } from 'node:http2'
import type { ClientHttp2Session, ClientSessionOptions, OutgoingHttpHeaders } from 'node:http2'
import { duplexPair } from 'node:stream'
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls'
import type { Test } from 'tap'
import { Deadlines } from '../../gateway/wire/deadlines.ts'
import type { Exchange, ForwardPlan, OwnAnswer } from '../../gateway/wire/exchange.ts'
import type { AbuseKind, ExchangeOutcome } from '../../gateway/wire/protocol.ts'
import { createHttp2Server } from '../../gateway/http2/server.ts'
import type { EdgeLimits } from '../../shared/edge-limits.ts'
import { createAddressCounts } from '../../gateway/wire/address-counts.ts'
import { HostCertificate } from '../../gateway/tls/certificates.ts'
import { createTlsListener, type TlsListenerOptions } from '../../gateway/tls/tls-listener.ts'
import { createTicketKeys } from '../../gateway/tls/ticket-keys.ts'
import { createHttp1Server } from '../../gateway/http1/server.ts'
import { createUpstreamRuntime } from '../../gateway/upstream/runtime.ts'
import { type Upstream } from '../../gateway/wire/upstream-call.ts'
import { createUpstream, type UpstreamOptions } from '../../gateway/upstream/upstream.ts'
import { systemClock, type Clock } from '../../shared/clock.ts'
import { commonAuthority, commonCertificate, type TestAuthority } from './test-certificates.ts'
import { listening } from './wire.ts'
import { rawListener } from './raw-listener.ts'

export const HOST = 'app.acme.test'
export const OTHER_HOST = 'app.beta.test'

export interface SecureWireOptions {
  readonly decide?: (exchange: Exchange, wire: SecureWire) => void
  readonly upstreamOptions?: Partial<UpstreamOptions>
  readonly limits?: Partial<EdgeLimits>
  readonly timeouts?: { headMs?: number; idleMs?: number; keepAliveMs?: number }
  readonly connectionsMax?: number
  readonly clock?: Clock
  readonly authority?: TestAuthority
  readonly fleetKey?: string
  readonly sweepMs?: number
  readonly front?: Partial<TlsListenerOptions>
  readonly refusalAnswer?: () => OwnAnswer
  readonly isExempt?: (address: string) => boolean
}

export type SecureWire = Awaited<ReturnType<typeof startSecureWire>>

export async function startSecureWire(t: Test, origin: string, options: SecureWireOptions = {}) {
  const clock = options.clock ?? systemClock
  const { authority = commonAuthority() } = options
  const certificateOf = options.authority?.issue ?? commonCertificate
  const certificates = new Map(
    [HOST, OTHER_HOST].map((host) => [host, new HostCertificate(certificateOf(host))]),
  )
  const runtime = createUpstreamRuntime({ sweepMs: options.sweepMs ?? 20 })
  const upstream: Upstream = createUpstream({
    origin,
    timeouts: { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 },
    runtime,
    ...options.upstreamOptions,
  })
  const outcomes: ExchangeOutcome[] = []
  const abuses: string[] = []
  const failures: string[] = []
  const errors: unknown[] = []
  const asked: string[] = []
  const plan = (exchange: Exchange): ForwardPlan => ({
    upstream,
    requestLines: `Host: ${exchange.head.authority}\r\nX-Service-Verified: true\r\n`,
    responseLines: 'X-Request-Id: r-1\r\n',
    isPrivate: false,
    privateCookieLine: '',
  })
  const { connectionsMax = 512 } = options
  const addresses = createAddressCounts({ connectionsMax, clock })
  const deadlines = new Deadlines(clock, options.sweepMs ?? 20)
  const shared = {
    handle: (exchange: Exchange) =>
      options.decide ? options.decide(exchange, wire) : exchange.forward(plan(exchange)),
    clock,
    deadlines,
    addresses,
    timeouts: { headMs: 60_000, idleMs: 60_000, keepAliveMs: 60_000, ...options.timeouts },
    onExchangeEnd: (_exchange: Exchange, outcome: ExchangeOutcome) => void outcomes.push(outcome),
    onError: (error: unknown) => void errors.push(error),
    onAbuse: (kind: AbuseKind) => void abuses.push(kind),
    limits: options.limits ?? {},
    ...(options.isExempt && { isExempt: options.isExempt }),
  }
  const http1 = createHttp1Server(shared)
  const http2 = createHttp2Server({
    ...shared,
    ...(options.refusalAnswer && { refusalAnswer: options.refusalAnswer }),
  })
  const front = createTlsListener({
    contextFor(host) {
      asked.push(host)
      if (host === 'throws.test') throw new Error('a certificate that cannot be loaded')
      return certificates.get(host)?.context
    },
    onHttp1: http1.accept,
    onHttp2: http2.accept,
    addresses,
    handshakeMs: shared.timeouts.headMs,
    tickets: createTicketKeys({ fleetKey: options.fleetKey ?? 'fleet key', clock }),
    onFailure: (code) => void failures.push(code),
    onAbuse: shared.onAbuse,
    clock,
    ...options.front,
  })
  const listener = rawListener(front.accept)
  const port = await listening(listener)
  t.teardown(async () => {
    listener.close()
    front.close()
    http1.close()
    http2.close()
    deadlines.close()
    await upstream.close()
    runtime.close()
  })

  const wire = {
    port,
    authority,
    certificates,
    upstream,
    http1,
    http2,
    front,
    addresses,
    deadlines,
    outcomes,
    abuses,
    failures,
    errors,
    asked,
    plan,
    /** A TLS connection; `servername` is what is asked for. */
    tls(more: ConnectionOptions = {}): TLSSocket {
      const socket = connectTls({
        port,
        host: '127.0.0.1',
        servername: HOST,
        ca: authority.caPem,
        ...more,
      })
      socket.on('error', () => undefined)
      t.teardown(() => socket.destroy())
      return socket
    },
    http2Client(more: ClientSessionOptions & { servername?: string } = {}): ClientHttp2Session {
      const { servername = HOST, ...rest } = more
      const session = connectHttp2(`https://${servername}:${port}`, {
        ...rest,
        createConnection: () => wire.tls({ servername, ALPNProtocols: ['h2'] }),
      })
      session.on('error', () => undefined)
      t.teardown(() => session.destroy())
      return session
    },
  }
  return wire
}

/** What a TLS client says first. */
export async function clientHelloFor(servername: string): Promise<Buffer> {
  const [near, far] = duplexPair()
  const client = connectTls({ socket: near, servername })
  client.on('error', () => undefined)
  const [bytes] = (await once(far, 'data')) as [Buffer]
  client.destroy()
  return bytes
}

export interface Http2Answer {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly fields: readonly string[]
  readonly body: Buffer
  readonly trailers: Record<string, string | string[] | undefined>
  readonly informational: readonly Record<string, unknown>[]
  /** 0 where the stream ended well. */
  readonly rstCode: number
}

/** One request with a whole body, and its whole answer. */
export async function ask(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: Buffer | string,
): Promise<Http2Answer> {
  const stream = session.request(
    { ':authority': HOST, ...headers },
    { endStream: body === undefined },
  )
  return answerOf(stream, body)
}

export async function answerOf(
  stream: ReturnType<ClientHttp2Session['request']>,
  body?: Buffer | string,
): Promise<Http2Answer> {
  const chunks: Buffer[] = []
  const informational: Record<string, unknown>[] = []
  const answer = { status: 0, headers: {}, fields: [] as readonly string[], trailers: {} }
  stream.on('headers', (found) => informational.push(found))
  stream.on('response', (found, _flags, fields) => {
    answer.status = Number(found[':status'])
    answer.headers = found
    answer.fields = fields
  })
  stream.on('trailers', (found) => (answer.trailers = found))
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  stream.on('error', () => undefined)
  if (body !== undefined) stream.end(body)
  await new Promise<void>((resolve) => stream.once('close', () => resolve()))
  return { ...answer, informational, body: Buffer.concat(chunks), rstCode: stream.rstCode ?? 0 }
}

export const { NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_REFUSED_STREAM } = constants
