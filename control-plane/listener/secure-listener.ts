/**
 * TLS for the control plane's own name. What has been deciphered goes the way of all other
 * connections, with the same bounds, and counts there alone; here are those of what comes before it. Behind a balancer that
 * only passes on TCP, who the client is stands in front of the handshake.
 */
import type { Server } from 'node:http'
import { createServer as createRawServer, type Server as RawServer, type Socket } from 'node:net'
import { createServer, type SecureContext } from 'node:tls'
import type { Logger } from 'pino'
import { withoutMapping } from '../../shared/client-address.ts'
import { SECOND_MS } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { networkList } from '../../shared/networks.ts'
import { createProxyProtocol } from '../../shared/proxy-protocol.ts'
import { createAddressPlaces } from './address-places.ts'
import { namePeer, peerOf, type Peer } from './client-address.ts'

const HANDSHAKE_MS = 10 * SECOND_MS

interface SecureListenerOptions {
  /** Takes connections that are deciphered. */
  readonly server: Server
  readonly hostname: string
  /** Of our own name; undefined: there is none yet. */
  readonly context: () => SecureContext | undefined
  /** Balancers in front, as CIDRs. */
  readonly trustedProxies?: readonly string[] | undefined
  /** They begin each connection with a PROXY header. */
  readonly proxyProtocol?: boolean | undefined
  readonly log: Pick<Logger, 'warn'>
  /** Handshakes under way; of all of them one site has at most half of what the others leave. */
  readonly perAddressMax?: number
  readonly maxOfAll?: number
  /** For a PROXY header, and again for the handshake behind it. */
  readonly handshakeMs?: number
}

/** On its way to being deciphered. */
interface Begun {
  readonly peer: Peer
  /** It is, or has ended. */
  settle(): void
}

export function createSecureListener(options: SecureListenerOptions): RawServer {
  const { server, hostname, context, trustedProxies = [], proxyProtocol = false, log } = options
  const { perAddressMax = LIMITS.publicConnectionsPerAddressMax, handshakeMs = HANDSHAKE_MS } =
    options
  const { maxOfAll = LIMITS.publicConnectionsMaxOfAll } = options
  const isTrusted = networkList(trustedProxies)
  const proxyHeaders = createProxyProtocol({
    headMs: handshakeMs,
    onMalformed: (balancer) =>
      log.warn({ client: balancer }, 'a balancer sent no valid PROXY header'),
  })
  const places = createAddressPlaces({ perAddressMax, maxOfAll })
  /** By what both sockets of one connection have in common. */
  const begun = new Map<string, Begun>()

  const secure = createServer(
    {
      minVersion: 'TLSv1.2',
      ALPNProtocols: ['http/1.1'],
      handshakeTimeout: handshakeMs,
      // who asks for another name has come to the wrong place
      SNICallback: (name, done) =>
        name.toLowerCase() === hostname ? done(null, context()) : done(NO_SUCH_NAME),
    },
    (socket) => {
      // Node hands errors of a handshake to the server, and those behind it to nobody
      socket.on('error', () => socket.destroy())
      const one = begun.get(keyOf(socket))
      if (one === undefined) return void socket.destroy() // gone in this moment
      one.settle()
      namePeer(socket, one.peer)
      server.emit('connection', socket)
    },
  )
  secure.on('tlsClientError', (_error, socket) => socket.destroy())

  function begin(socket: Socket, peer: Peer) {
    socket.on('error', () => socket.destroy())
    const settle = enter(peer.address)
    if (settle === undefined) return void socket.destroy()
    const key = keyOf(socket)
    begun.set(key, { peer, settle })
    socket.once('close', () => {
      begun.delete(key)
      settle()
    })
    secure.emit('connection', socket)
  }

  /** Each connection of a balancer that speaks for itself is somebody else. */
  const enter = (peerAddress: string) =>
    isTrusted(peerAddress) ? ignore : places.take(peerAddress)

  return createRawServer((socket) => {
    const address = withoutMapping(socket.remoteAddress ?? '')
    // whoever is no balancer of the operator's speaks for itself, and its header is no ClientHello
    if (!proxyProtocol || !isTrusted(address)) return begin(socket, peerOf(address))
    proxyHeaders.read(socket, address, (proxied) => begin(socket, peerOf(address, proxied)))
  })
}

const ignore = (): void => undefined
const NO_SUCH_NAME = new Error('no such name')

const keyOf = (socket: Socket): string =>
  `${socket.remoteAddress} ${socket.remotePort} ${socket.localAddress} ${socket.localPort}`
