/** The HTTP/2 side of the edge: takes secure sockets and hands out the same exchanges as HTTP/1. */
import type { SecureServerOptions } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import { systemClock } from '../../shared/clock.ts'
import type { Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { AddressCounts } from '../wire/address-counts.ts'
import type { Exchange, OwnAnswer } from '../wire/exchange.ts'
import { createDateLine, plainAnswer } from '../wire/answer.ts'
import { createDeadlines } from '../wire/deadlines.ts'
import type { Deadlines } from '../wire/deadlines.ts'
import type { Refusal } from '../wire/refusals.ts'
import type { Http1ServerOptions, Http1Timeouts } from '../http1/server.ts'
import type { UpstreamFailure } from '../wire/upstream-call.ts'
import type { SecureAccepted } from '../tls/tls-listener.ts'
import type { Budget } from '../wire/budget.ts'
import type { Cost } from './connection-costs.ts'
import { Http2Connection } from './http2-connection.ts'
import { createHeadReader, type HeadReader } from './request-head.ts'

export interface Http2Limits {
  readonly http2StreamsMax: number
  readonly http2InvalidFramesMax: number
  readonly http2Resets: Budget
  readonly http2Cancels: Budget
  readonly http2ControlFrames: Budget
  readonly http2CostsPerSite: Readonly<Record<Cost, Budget>>
  readonly http2SmallDataFrames: Budget
  readonly http2StreamIdleMsMax: number
  readonly http2StreamsPerAddressMax: number
  readonly http2UploadsPerAddressMax: number
  readonly http2HeadBytesPerAddressMax: number
  readonly requestsPerConnectionMax: number
}

export interface Http2ServerOptions extends Pick<
  Http1ServerOptions,
  | 'handle'
  | 'onExchangeEnd'
  | 'onRefusal'
  | 'onError'
  | 'onAbuse'
  | 'refusalAnswer'
  | 'failureAnswer'
  | 'isExempt'
> {
  readonly timeouts: Http1Timeouts
  readonly addresses: AddressCounts
  readonly limits?: Partial<Http2Limits>
  readonly clock?: Clock
  /** Shared with others, or made and closed by this server. */
  readonly deadlines?: Deadlines
}

export interface Http2Server {
  accept(socket: TLSSocket, as: SecureAccepted): void
  /** No new streams: the clients are told. What is open is answered. */
  drain(): Promise<void>
  /** Everything at once. */
  close(): void
  connections(): number
  /** Every request whose answer has not been finished. */
  eachInFlight(visit: (exchange: Exchange) => void): void
}

/** What the connections see of their server. */
export interface Http2World {
  readonly options: Http2ServerOptions
  readonly clock: Clock
  readonly deadlines: Deadlines
  readonly limits: Http2Limits
  readonly sessionOptions: SecureServerOptions
  readonly readHead: HeadReader
  readonly dateLine: () => string
  readonly refusalAnswer: (refusal: Refusal) => OwnAnswer
  readonly failureAnswer: NonNullable<Http1ServerOptions['failureAnswer']>
  /** Calls something of the caller's: what it throws is reported and ends nothing else. */
  guard(run: () => void): void
  isDraining: boolean
  forget(connection: Http2Connection): void
}

export function createHttp2Server(options: Http2ServerOptions): Http2Server {
  const clock = options.clock ?? systemClock
  const { addresses } = options
  const limits: Http2Limits = { ...LIMITS, ...options.limits }
  const connections = new Set<Http2Connection>()
  let whenEmpty: (() => void) | null = null

  const world: Http2World = {
    options,
    clock,
    deadlines: options.deadlines ?? createDeadlines(clock),
    limits,
    sessionOptions: sessionOptions(limits),
    readHead: createHeadReader(),
    dateLine: createDateLine(clock),
    refusalAnswer: (refusal) => guarded(options.refusalAnswer, refusal),
    failureAnswer: (failure, exchange) => guarded(options.failureAnswer, failure, exchange),
    guard(run) {
      try {
        run()
      } catch (error) {
        options.onError?.(error)
      }
    },
    isDraining: false,
    forget(connection) {
      if (!connections.delete(connection)) return
      addresses.leave(connection.peerAddress, connection)
      if (connections.size === 0) whenEmpty?.()
    },
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

  return {
    accept(socket, { peerAddress, sniHost }) {
      if (!addresses.enter(peerAddress)) return void socket.destroy()
      const connection = new Http2Connection(world, socket, peerAddress, sniHost)
      connections.add(connection)
      addresses.useOf(peerAddress).members.add(connection)
    },
    async drain() {
      world.isDraining = true
      for (const connection of [...connections]) connection.drain()
      if (connections.size > 0)
        await new Promise<void>((resolve) => {
          whenEmpty = resolve
        })
    },
    close() {
      for (const connection of [...connections]) connection.destroy()
      if (options.deadlines === undefined) world.deadlines.close()
    },
    connections: () => connections.size,
    eachInFlight(visit) {
      for (const connection of connections) connection.eachInFlight(visit)
    },
  }
}

/**
 * What nghttp2 holds us to by itself. It also limits CONTINUATION frames to eight a block
 * (CVE-2024-27983) and unanswered acknowledgements to a thousand.
 */
const sessionOptions = (limits: Http2Limits): SecureServerOptions => ({
  settings: {
    maxConcurrentStreams: limits.http2StreamsMax,
    initialWindowSize: LIMITS.http2StreamWindowBytes,
    maxHeaderListSize: LIMITS.http2HeaderBlockBytesMax,
    enablePush: false,
  },
  maxHeaderListPairs: LIMITS.http2HeaderFieldsMax,
  maxSessionInvalidFrames: limits.http2InvalidFramesMax,
  // RST_STREAM frames, counted before there is a stream of ours (CVE-2023-44487)
  streamResetBurst: limits.http2Cancels.burst,
  streamResetRate: limits.http2Cancels.perSecond,
  // applications repeat what they should not; that is between them and their clients
  strictSingleValueFields: false,
})
