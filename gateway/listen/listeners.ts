/**
 * The doors of a worker: sockets in the clear and sockets that begin with TLS, both behind a PROXY
 * header where the operator's balancers send one.
 */
import { createServer, type Server, type Socket } from 'node:net'
import type { Logger } from 'pino'
import { MINUTE_MS, type SteadyClock } from '../../shared/clock.ts'
import { withoutMapping } from '../../shared/client-address.ts'
import { networkList } from '../../shared/networks.ts'
import type { GatewaySettings } from '../config.ts'
import { createProxyProtocol, type Proxied } from '../../shared/proxy-protocol.ts'
import type { Protocols } from './protocols.ts'

interface ListenersOptions {
  readonly settings: Pick<GatewaySettings, 'proxyProtocol' | 'trustedProxies' | 'timeouts'>
  readonly protocols: Pick<Protocols, 'accept' | 'acceptTls'>
  readonly log: Logger
  readonly clock: SteadyClock
}

export function createListeners({ settings, protocols, log, clock }: ListenersOptions) {
  const isTrusted = networkList(settings.trustedProxies)
  const proxyProtocol = createProxyProtocol({
    headMs: settings.timeouts.head,
    onMalformed: (peerAddress) =>
      log.warn({ client: peerAddress }, 'a balancer sent no valid PROXY header'),
  })
  let complainedMs = -Infinity

  function open(hand: (socket: Socket, as: Proxied) => void): Server {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      const peerAddress = withoutMapping(socket.remoteAddress ?? '')
      // Whoever is not a balancer of the operator's speaks for itself, and its header is no HTTP.
      if (!settings.proxyProtocol || !isTrusted(peerAddress)) hand(socket, {})
      else proxyProtocol.read(socket, peerAddress, (proxied) => hand(socket, proxied))
    })
    // Out of file descriptors, mostly: libuv closes what it cannot keep, and we go on.
    server.on('error', (error) => {
      if (!server.listening || clock.steadyMs() - complainedMs < MINUTE_MS) return
      complainedMs = clock.steadyMs()
      log.error({ error }, 'a connection could not be accepted')
    })
    return server
  }

  const plain = open((socket, proxied) => {
    protocols.accept(socket, proxied)
    if (socket.isPaused()) socket.resume()
  })
  // Left as it is: TLS reads past this stream, which would swallow the handshake if it flowed.
  const secure = open((socket, proxied) => protocols.acceptTls(socket, proxied))
  return {
    /** The caller listens. */
    plain,
    secure,
    /** No new connections. */
    stop() {
      plain.close()
      secure.close()
    },
    /** Every connection that was accepted has been handed over or closed. */
    settled: () => proxyProtocol.settled(),
  }
}
