/**
 * All ways into one worker: HTTP/1 in the clear, and behind TLS the same HTTP/1 or HTTP/2. They
 * share what handles a request, the count of connections per address, and the way they end.
 */
import type { Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { createAddressCounts } from '../wire/address-counts.ts'
import type { Exchange } from '../wire/exchange.ts'
import { createHttp1Server } from '../http1/server.ts'
import type { Http1ServerOptions } from '../http1/world.ts'
import { createHttp2Server } from '../http2/server.ts'
import {
  createTlsListener,
  type ConnectorDoor,
  type TlsListenerOptions,
} from '../tls/tls-listener.ts'
import { createTicketKeys } from '../tls/ticket-keys.ts'

interface ProtocolsOptions extends Omit<
  Http1ServerOptions,
  'addresses' | 'limits' | 'clock' | 'deadlines'
> {
  readonly clock: Clock
  /** The certificate for a host, ready for a handshake. */
  readonly contextFor: TlsListenerOptions['contextFor']
  /** Session tickets are derived from it until there is a secret of the whole fleet. */
  readonly fleetKey: string
  readonly connectors?: ConnectorDoor | undefined
}

export type Protocols = ReturnType<typeof createProtocols>

export function createProtocols(options: ProtocolsOptions) {
  const { contextFor, fleetKey, connectors, ...shared } = options
  const { isExempt } = options
  const addresses = createAddressCounts({
    connectionsMax: LIMITS.connectionsPerAddressMax,
    isExempt,
    clock: options.clock,
  })
  const http1 = createHttp1Server({ ...shared, addresses })
  const http2 = createHttp2Server({ ...shared, addresses })
  const tickets = createTicketKeys({ fleetKey, clock: options.clock })
  const tls = createTlsListener({
    contextFor,
    onHttp1: http1.accept,
    onHttp2: http2.accept,
    addresses,
    isExempt,
    clock: options.clock,
    handshakeMs: options.timeouts.headMs,
    tickets,
    connectors,
    onAbuse: options.onAbuse,
  })
  return {
    /** Sockets in the clear. */
    accept: http1.accept,
    /** Sockets that begin with a TLS handshake. */
    acceptTls: tls.accept,
    /** What session tickets are derived from at all gateways; undefined: each from its own key. */
    shareTickets: tickets.share,
    /** Every request whose answer has not been finished. */
    eachInFlight(callback: (exchange: Exchange) => void) {
      http1.eachInFlight(callback)
      http2.eachInFlight(callback)
    },
    connections: () => tls.handshakes() + http1.connections() + http2.connections(),
    /** Settles when every connection has had its last answer. */
    async drain(graceMs?: number) {
      void http1.drain(graceMs)
      void http2.drain()
      await tls.settled() // whoever is in the middle of a handshake has a request to make
      await Promise.all([http1.drain(graceMs), http2.drain()])
    },
    /** Everything at once. */
    close() {
      tls.close()
      http1.close()
      http2.close()
    },
  }
}
