/** What a server of HTTP/2 and its connections have of each other. */
import type { Clock } from '../../shared/clock.ts'
import type { EdgeLimits } from '../../shared/edge-limits.ts'
import type { AddressCounts } from '../wire/address-counts.ts'
import type { Idling } from '../wire/site-use.ts'
import type { Deadlines } from '../wire/deadlines.ts'
import type { Exchange } from '../wire/exchange.ts'
import type { SmallReadsWorld } from '../wire/small-reads.ts'
import type { CallerCode, ProtocolOptions } from '../wire/protocol.ts'
import type { AnswerProgressWorld } from './answer-progress.ts'
import type { BodyBuffers } from './body-buffers.ts'
import type { SessionOptions } from './protocol/session-options.ts'
import type { HeadReader } from './request-head.ts'
import type { HeldStreams } from './stream-share.ts'

/** What costs us at once and our client nothing. */
export type Cost = 'resets' | 'cancels' | 'controlFrames' | 'idleFrames'

export interface Http2ServerOptions extends ProtocolOptions {
  readonly addresses: AddressCounts
  readonly limits?: Partial<EdgeLimits>
}

export interface ServedConnection extends Idling {
  readonly peerAddress: string
  /** No new streams. */
  drain(): void
  destroy(): void
  eachInFlight(callback: (exchange: Exchange) => void): void
}

/** What the connections see of their server. */
export interface Http2World extends CallerCode, SmallReadsWorld {
  readonly options: Http2ServerOptions
  readonly clock: Clock
  readonly deadlines: Deadlines
  readonly limits: EdgeLimits
  readonly sessionOptions: SessionOptions
  /** Where the address has much under way already. */
  readonly narrowOptions: SessionOptions
  readonly readHead: HeadReader
  readonly dateLine: () => string
  readonly bodyBuffers: BodyBuffers
  /** Of all that are not exempt. */
  readonly held: HeldStreams
  isDraining: boolean
  forget(connection: ServedConnection): void
}

/** What an exchange has of its connection. */
export interface ExchangeConnection<One> {
  readonly world: Http2World
  readonly peerAddress: string
  readonly namesNobody: boolean
  readonly progress: AnswerProgressWorld
  /** It holds as much as it may of what its client has not taken. */
  readonly isFull: boolean
  readonly isClosing: boolean
  readonly onTaken: () => void
  charge(requests: number): void
  onWritten(bytes: number): void
  /** Of the connection: who has vanished without a word is found by asking. */
  keepAlive(afterMs: number): void
  onWaiting(exchange: One): void
  endUpload(exchange: One): void
  /** It has become a WebSocket: those have limits of their own, and are none of its client's streams. */
  handOver(exchange: One): void
  forget(exchange: One, isReset: boolean, rstCode: number): void
}
