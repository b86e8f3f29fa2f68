/** One worker's gateway with its TLS listener, as balancers and browsers reach it. */
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2'
import { connect as connectTcp, createServer } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { createListeners } from '../../gateway/listen/listeners.ts'
import { systemClock } from '../../shared/clock.ts'
import type { TenantSnapshot } from '../../shared/fleet/snapshot.ts'
import { HOST, startEdge, USER_AGENT } from './edge-world.ts'
import { createTestLog } from './fleet.ts'
import { commonAuthority, commonCertificate } from './test-certificates.ts'
import { listening } from './wire.ts'

interface Teardown {
  teardown(close: () => unknown): void
}

export interface SecureEdgeOptions {
  readonly change?: Partial<TenantSnapshot>
  /** Whose PROXY headers are believed; without them none is read. */
  readonly balancers?: readonly string[]
  /** The gateway believes what these forward. */
  readonly trustedProxies?: readonly string[]
}

/** `together`: in one packet with the first bytes of the handshake. */
export interface ProxiedBy {
  readonly header: Buffer | string
  readonly how: 'together' | 'apart' | 'byte by byte'
}

/** Answers its port. */
export async function startBalancer(t: Teardown, port: number, { header, how }: ProxiedBy) {
  const bytes = Buffer.from(header as string, 'latin1')
  const server = createServer({ noDelay: true }, (client) => {
    const gateway = connectTcp({ port, host: '127.0.0.1', noDelay: true })
    for (const [from, to] of [
      [client, gateway],
      [gateway, client],
    ] as const)
      from.on('error', () => to.destroy()).on('close', () => to.destroy())
    gateway.pipe(client)
    client.once('data', (first: Buffer) => {
      client.pause()
      void send(first).then(() => client.pipe(gateway))
    })

    async function send(first: Buffer) {
      if (how === 'together') return void gateway.write(Buffer.concat([bytes, first]))
      const pieces = how === 'apart' ? [bytes] : [...bytes].map((byte) => Buffer.from([byte]))
      for (const piece of pieces) {
        gateway.write(piece)
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
      gateway.write(first)
    }
  })
  t.teardown(() => server.close())
  return listening(server)
}

export async function startSecureEdge(
  t: Teardown,
  origin: string,
  { change = {}, balancers, trustedProxies = [] }: SecureEdgeOptions = {},
) {
  const certificates = [commonCertificate(HOST)]
  const edge = await startEdge(t, origin, { certificates, ...change }, {}, { trustedProxies })
  const listeners = createListeners({
    settings: {
      proxyProtocol: balancers !== undefined,
      trustedProxies: balancers ?? [],
      timeouts: {
        head: 10_000,
        idle: 60_000,
        keep_alive: 75_000,
        connect: 5000,
        first_byte: 30_000,
      },
    },
    protocols: edge.gateway.server,
    log: createTestLog().log,
    clock: systemClock,
  })
  const port = await listening(listeners.secure)
  const plainPort = await listening(listeners.plain)
  t.teardown(() => listeners.stop())

  /** Behind a balancer that writes this header before what it carries. */
  async function tls(protocol: 'h2' | 'http/1.1', header?: ProxiedBy): Promise<TLSSocket> {
    const secure = connectTls({
      port: header === undefined ? port : await startBalancer(t, port, header),
      host: '127.0.0.1',
      servername: HOST,
      ca: commonAuthority().caPem,
      ALPNProtocols: [protocol],
    })
    t.teardown(() => secure.destroy())
    secure.on('error', () => undefined)
    await new Promise((resolve) => secure.once('secureConnect', resolve).once('close', resolve))
    return secure
  }

  return {
    ...edge,
    tlsPort: port,
    plainPort,
    tls,
    async http2(header?: ProxiedBy): Promise<ClientHttp2Session> {
      const socket = await tls('h2', header)
      const session = connectHttp2(`https://${HOST}`, { createConnection: () => socket })
      session.on('error', () => undefined)
      t.teardown(() => session.destroy())
      return session
    },
    /** What a browser of somebody who is signed in sends over HTTP/2. */
    headersOf: (path: string, options: Parameters<typeof edge.session>[0] = {}) => ({
      ':path': path,
      ':authority': HOST,
      'user-agent': USER_AGENT,
      cookie: edge.session(options),
    }),
  }
}
