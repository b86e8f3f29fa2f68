/** The client side of the edge: takes sockets, speaks strict HTTP/1.1, hands out exchanges. */
import type { Socket } from 'node:net'
import { systemClock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { createAddressCounts } from '../wire/address-counts.ts'
import { withoutMapping } from '../../shared/client-address.ts'
import type { Exchange } from '../wire/exchange.ts'
import { AddressTurn } from '../wire/address-turn.ts'
import { createSmallReadsWorld } from '../wire/small-reads.ts'
import type { Proxied } from '../../shared/proxy-protocol.ts'
import { createDateLine } from '../wire/answer.ts'
import { ClientConnection } from './client-connection.ts'
import { SpareBuffer } from '../wire/client-writer.ts'
import { Deadlines } from '../wire/deadlines.ts'
import { callerCode } from '../wire/protocol.ts'
import type { Http1ServerOptions, Http1World, ServedConnection } from './world.ts'

interface AcceptedAs extends Proxied {
  /** What the TLS handshake was for: any other host is answered 421. '': what is asked first. */
  readonly sniHost?: string
}

const DRAIN_GRACE_MS = 1000
const READ_BUFFER_BYTES = 64 * 1024

export type Http1Server = ReturnType<typeof createHttp1Server>

export function createHttp1Server(options: Http1ServerOptions) {
  const clock = options.clock ?? systemClock
  const connections = new Set<ServedConnection>()
  const limits = { ...LIMITS, ...options.limits }
  const addresses =
    options.addresses ??
    createAddressCounts({
      connectionsMax: limits.connectionsPerAddressMax,
      isExempt: options.isExempt,
      clock,
    })
  let whenEmpty: (() => void) | null = null

  /** None of whoever is many people. */
  const siteOf = (address: string) =>
    options.isExempt?.(address) === true ? undefined : addresses.siteOf(address)

  const world: Http1World = {
    options,
    clock,
    deadlines: options.deadlines ?? new Deadlines(clock),
    timeouts: options.timeouts,
    limits,
    dateLine: createDateLine(clock),
    readBuffer: Buffer.allocUnsafeSlow(READ_BUFFER_BYTES),
    spare: new SpareBuffer(),
    ...callerCode(options),
    drainGraceMs: -1,
    forget(connection) {
      if (!connections.delete(connection)) return
      addresses.leave(connection.peerAddress, connection)
      if (connections.size === 0) whenEmpty?.()
    },
    turnOf(address) {
      const site = siteOf(address)
      return site === undefined ? new AddressTurn() : (site.requests ??= new AddressTurn())
    },
    ...createSmallReadsWorld({
      siteOf,
      limits,
      clock,
      onAbuse: (address) => world.guard(() => options.onAbuse?.('small_reads', address)),
    }),
  }

  /** A `net` or `tls` socket of a server with `allowHalfOpen` and `noDelay`. */
  function accept(socket: Socket, as: AcceptedAs = {}): void {
    const peerAddress = as.peerAddress ?? withoutMapping(socket.remoteAddress ?? '')
    if (!addresses.enter(peerAddress)) {
      socket.on('error', ignore)
      socket.destroy()
      return
    }
    const { isSecure = false, namesNobody = false, sniHost } = as
    const from = { peerAddress, isSecure, namesNobody, sniHost }
    const connection = new ClientConnection(world, socket, from)
    connections.add(connection)
    addresses.hold(peerAddress, connection)
  }

  /**
   * Answers in flight end with `Connection: close`. Connections that have been idle for
   * `graceMs` close now, the others when they get there, so that a request already on its way is
   * still answered.
   */
  async function drain(graceMs = DRAIN_GRACE_MS): Promise<void> {
    world.drainGraceMs = graceMs
    for (const connection of [...connections]) connection.drain()
    if (connections.size > 0)
      await new Promise<void>((resolve) => {
        whenEmpty = resolve
      })
  }

  return {
    accept,
    drain,
    /** Everything at once. */
    close() {
      for (const connection of [...connections]) connection.destroy()
      if (options.deadlines === undefined) world.deadlines.close()
    },
    connections: () => connections.size,
    /** Every request whose answer has not been finished. */
    eachInFlight(callback: (exchange: Exchange) => void) {
      for (const { exchange } of connections) if (exchange !== null) callback(exchange)
    },
  }
}

const ignore = (): void => undefined
