/** The HTTP/2 side of the edge: takes secure sockets and hands out the same exchanges as HTTP/1. */
import type { TLSSocket } from 'node:tls'
import { systemClock } from '../../shared/clock.ts'
import type { EdgeLimits } from '../../shared/edge-limits.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { SecureAccepted } from '../tls/tls-listener.ts'
import { createDateLine } from '../wire/answer.ts'
import { Deadlines } from '../wire/deadlines.ts'
import type { Exchange } from '../wire/exchange.ts'
import { callerCode } from '../wire/protocol.ts'
import { createSmallReadsWorld } from '../wire/small-reads.ts'
import { BodyBuffers } from './body-buffers.ts'
import { Http2Connection } from './http2-connection.ts'
import { createHeadReader } from './request-head.ts'
import type { Http2ServerOptions, Http2World, ServedConnection } from './world.ts'

export function createHttp2Server(options: Http2ServerOptions) {
  const clock = options.clock ?? systemClock
  const { addresses } = options
  const limits: EdgeLimits = { ...LIMITS, ...options.limits }
  const connections = new Set<ServedConnection>()
  let whenEmpty: (() => void) | null = null
  const nowMs = () => clock.steadyMs()

  const world: Http2World = {
    options,
    clock,
    deadlines: options.deadlines ?? new Deadlines(clock),
    limits,
    sessionOptions: sessionOptions(limits, limits.http2StreamsMax, nowMs),
    narrowOptions: sessionOptions(limits, limits.http2StreamsBesideManyMax, nowMs),
    readHead: createHeadReader(),
    dateLine: createDateLine(clock),
    bodyBuffers: new BodyBuffers(),
    held: { streams: 0, headBytes: 0, unsentBytes: 0 },
    ...callerCode(options),
    ...createSmallReadsWorld({
      siteOf: (address) =>
        options.isExempt?.(address) === true ? undefined : addresses.siteOf(address),
      limits,
      clock,
      onAbuse: (address) => world.guard(() => options.onAbuse?.('small_reads', address)),
    }),
    isDraining: false,
    forget(connection) {
      if (!connections.delete(connection)) return
      addresses.leave(connection.peerAddress, connection)
      if (connections.size === 0) whenEmpty?.()
    },
  }

  return {
    accept(socket: TLSSocket, from: SecureAccepted) {
      const { peerAddress } = from
      if (!addresses.enter(peerAddress)) return void socket.destroy()
      const connection = new Http2Connection(world, socket, from)
      connections.add(connection)
      addresses.hold(peerAddress, connection)
    },
    /** No new streams: the clients are told. What is open is answered. */
    async drain() {
      world.isDraining = true
      for (const connection of [...connections]) connection.drain()
      if (connections.size > 0)
        await new Promise<void>((resolve) => {
          whenEmpty = resolve
        })
    },
    /** Everything at once. */
    close() {
      for (const connection of [...connections]) connection.destroy()
      if (options.deadlines === undefined) world.deadlines.close()
    },
    connections: () => connections.size,
    /** Every request whose answer has not been finished. */
    eachInFlight(callback: (exchange: Exchange) => void) {
      for (const connection of connections) connection.eachInFlight(callback)
    },
  }
}

/** What the protocol holds a client to by itself. */
const sessionOptions = (limits: EdgeLimits, streamsMax: number, nowMs: () => number) => ({
  headers: {
    listBytesMax: LIMITS.http2HeaderBlockBytesMax,
    fieldsMax: LIMITS.http2HeaderFieldsMax,
  },
  blockBytesMax: LIMITS.http2HeaderBlockBytesMax,
  // CONTINUATION floods (CVE-2024-27983)
  blockFramesMax: LIMITS.http2BlockFramesMax,
  streamsMax,
  streamWindowBytes: LIMITS.http2StreamWindowBytes,
  invalidFramesMax: limits.http2InvalidFramesMax,
  // RST_STREAM frames, counted before there is a stream of ours (CVE-2023-44487)
  resets: limits.http2Cancels,
  nowMs,
})
