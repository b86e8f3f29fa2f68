/** The client side of the edge: takes sockets, speaks strict HTTP/1.1, hands out exchanges. */
import { createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import { systemClock } from '../../shared/clock.ts'
import type { Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { Budget } from '../wire/budget.ts'
import { createAddressCounts, type AddressCounts } from '../wire/address-counts.ts'
import { withoutMapping } from '../../shared/client-address.ts'
import type { Exchange, OwnAnswer } from '../wire/exchange.ts'
import { AddressTurn } from '../wire/address-turn.ts'
import { Throttle } from '../wire/throttle.ts'
import type { UpstreamFailure } from '../wire/upstream-call.ts'
import { createDateLine, plainAnswer } from '../wire/answer.ts'
import { ClientConnection } from './client-connection.ts'
import { SpareBuffer } from '../wire/client-writer.ts'
import { createDeadlines } from '../wire/deadlines.ts'
import type { Deadlines } from '../wire/deadlines.ts'
import type { Refusal } from '../wire/refusals.ts'
import type { SmallReadsWorld } from './small-reads.ts'

export interface Http1Timeouts {
  /** From the first byte of a head to its last, and from the connection to its first request. */
  readonly headMs: number
  /** Without any progress in a body, in either direction. */
  readonly idleMs: number
  /** Between two requests. */
  readonly keepAliveMs: number
}

export interface Http1Limits {
  readonly connectionsPerAddressMax: number
  readonly requestsPerConnectionMax: number
  readonly smallReads: Budget
  readonly smallFrames: Budget
}

/** All but the first over HTTP/2. */
export type AbuseKind = 'small_reads' | 'resets' | 'control_frames' | 'small_data_frames'

/** How an exchange ended, for the log line and the metrics. */
export interface ExchangeOutcome {
  /** What the client was sent; 0 where the connection was gone before. */
  readonly status: number
  /** Bytes of the answer's head and body. */
  readonly bytes: number
  /** The answer did not arrive whole. */
  readonly isCut: boolean
  readonly failure: UpstreamFailure | null
  /** From the request on its way to the application to the head of its answer; else -1. */
  readonly upstreamMs?: number
}

export interface Http1ServerOptions {
  readonly handle: (exchange: Exchange) => void
  readonly timeouts: Http1Timeouts
  readonly limits?: Partial<Http1Limits>
  readonly isSecure?: boolean
  readonly clock?: Clock
  /** Shared with others, or made and closed by this server. */
  readonly deadlines?: Deadlines
  readonly onExchangeEnd?: (exchange: Exchange, outcome: ExchangeOutcome) => void
  /** A head that was refused before there was an exchange. */
  readonly onRefusal?: (refusal: Refusal, peerAddress: string) => void
  /** A connection was ended for what its client did. */
  readonly onAbuse?: (kind: AbuseKind, peerAddress: string) => void
  /** What `handle` threw. */
  readonly onError?: (error: unknown) => void
  readonly refusalAnswer?: (refusal: Refusal) => OwnAnswer
  readonly failureAnswer?: (failure: UpstreamFailure, exchange: Exchange) => OwnAnswer
  /** Addresses that the limit per address does not count: balancers in front. */
  readonly isExempt?: (address: string) => boolean
  /** Shared with the other wires; it then holds the limit and its exemptions. */
  readonly addresses?: AddressCounts
}

export interface AcceptedAs {
  /** From the PROXY protocol; else the socket's own. */
  readonly peerAddress?: string
  readonly isSecure?: boolean
  /** What the TLS handshake was for: any other host is answered 421. '': what is asked first. */
  readonly sniHost?: string
}

export interface Http1Server {
  /** A `net` or `tls` socket of a server with `allowHalfOpen` and `noDelay`. */
  accept(socket: Socket, as?: AcceptedAs): void
  /** A server of its own for `accept`; the caller listens and closes. */
  createListener(): Server
  /**
   * Answers in flight end with `Connection: close`. Connections that have been idle for
   * `graceMs` close now, the others when they get there, so that a request already on its way is
   * still answered.
   */
  drain(graceMs?: number): Promise<void>
  /** Everything at once. */
  close(): void
  connections(): number
  /** Every request whose answer has not been finished. */
  eachInFlight(visit: (exchange: Exchange) => void): void
  connectionsOf(address: string): number
}

/** What the connections see of their server. */
export interface Http1World extends SmallReadsWorld {
  readonly options: Http1ServerOptions
  readonly clock: Clock
  readonly deadlines: Deadlines
  readonly timeouts: Http1Timeouts
  readonly limits: Http1Limits
  readonly dateLine: () => string
  /** All connections read into these bytes, one after the other. */
  readonly readBuffer: Buffer
  readonly spare: SpareBuffer
  readonly refusalAnswer: (refusal: Refusal) => OwnAnswer
  readonly failureAnswer: (failure: UpstreamFailure, exchange: Exchange) => OwnAnswer
  /** What `onExchangeEnd` throws is reported and ends nothing else. */
  tellEnd(exchange: Exchange, outcome: ExchangeOutcome): void
  /** Calls something of the caller's: what it throws is reported and ends nothing else. */
  guard(run: () => void): void
  /** Milliseconds of idleness that a draining server still allows; -1 while it is not draining. */
  drainGraceMs: number
  forget(connection: ClientConnection): void
  /** Shared by all connections of a site. */
  turnOf(address: string): AddressTurn
}

const DRAIN_GRACE_MS = 1000
const READ_BUFFER_BYTES = 64 * 1024

export function createHttp1Server(options: Http1ServerOptions): Http1Server {
  const clock = options.clock ?? systemClock
  const connections = new Set<ClientConnection>()
  const limits = { ...LIMITS, ...options.limits }
  const addresses =
    options.addresses ??
    createAddressCounts({
      connectionsMax: limits.connectionsPerAddressMax,
      isExempt: options.isExempt,
      clock,
    })
  let whenEmpty: (() => void) | null = null

  const world: Http1World = {
    options,
    clock,
    deadlines: options.deadlines ?? createDeadlines(clock),
    timeouts: options.timeouts,
    limits,
    dateLine: createDateLine(clock),
    readBuffer: Buffer.allocUnsafeSlow(READ_BUFFER_BYTES),
    spare: new SpareBuffer(),
    refusalAnswer: (refusal) => guarded(options.refusalAnswer, refusal),
    failureAnswer: (failure, exchange) => guarded(options.failureAnswer, failure, exchange),
    tellEnd(exchange, outcome) {
      try {
        options.onExchangeEnd?.(exchange, outcome)
      } catch (error) {
        options.onError?.(error)
      }
    },
    guard(run) {
      try {
        run()
      } catch (error) {
        options.onError?.(error)
      }
    },
    drainGraceMs: -1,
    forget(connection) {
      if (!connections.delete(connection)) return
      addresses.leave(connection.peerAddress, connection)
      if (connections.size === 0) whenEmpty?.()
    },
    turnOf(address) {
      if (options.isExempt?.(address) === true) return new AddressTurn()
      return (addresses.siteOf(address).requests ??= new AddressTurn())
    },
    smallReadsOf(address) {
      if (options.isExempt?.(address) === true) return undefined
      return (addresses.siteOf(address).smallReads ??= new Throttle(limits.smallReads, clock))
    },
    smallFramesOf(address) {
      if (options.isExempt?.(address) === true) return undefined
      return (addresses.siteOf(address).smallFrames ??= new Throttle(limits.smallFrames, clock))
    },
    tellSmallReads: (address) => world.guard(() => options.onAbuse?.('small_reads', address)),
  }

  /** A page that cannot be made is replaced by a plain one. */
  function guarded<Reason extends Refusal | UpstreamFailure, Rest extends unknown[]>(
    make: ((reason: Reason, ...rest: Rest) => OwnAnswer) | undefined,
    reason: Reason,
    ...rest: Rest
  ): OwnAnswer {
    let answer: OwnAnswer | undefined
    world.guard(() => (answer = make?.(reason, ...rest)))
    return answer ?? plainAnswer(reason)
  }

  function accept(socket: Socket, as: AcceptedAs = {}): void {
    const address = as.peerAddress ?? withoutMapping(socket.remoteAddress ?? '')
    if (!addresses.enter(address)) {
      socket.on('error', ignore)
      socket.destroy()
      return
    }
    const isSecure = as.isSecure ?? options.isSecure ?? false
    const connection = new ClientConnection(world, socket, address, isSecure, as.sniHost)
    connections.add(connection)
    addresses.useOf(address).members.add(connection)
  }

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
    createListener: () =>
      createServer({ allowHalfOpen: true, noDelay: true }, (socket) => accept(socket)),
    drain,
    close() {
      for (const connection of [...connections]) connection.destroy()
      if (options.deadlines === undefined) world.deadlines.close()
    },
    connections: () => connections.size,
    eachInFlight(visit) {
      for (const { exchange } of connections) if (exchange !== null) visit(exchange)
    },
    connectionsOf: addresses.of,
  }
}

const ignore = (): void => undefined
