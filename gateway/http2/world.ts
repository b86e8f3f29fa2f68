/** What a server of HTTP/2 and its connections have of each other. */
import type { SecureServerOptions } from 'node:http2'
import type { Clock } from '../../shared/clock.ts'
import type { AddressCounts, Idling } from '../wire/address-counts.ts'
import type { Budget } from '../wire/budget.ts'
import type { Deadlines } from '../wire/deadlines.ts'
import type { Exchange } from '../wire/exchange.ts'
import type { CallerCode, ProtocolOptions } from '../wire/protocol.ts'
import type { AnswerProgressWorld } from './answer-progress.ts'
import type { HeadReader } from './request-head.ts'

/** What costs us at once and our client nothing. */
export type Cost = 'resets' | 'cancels' | 'controlFrames'

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

export interface Http2ServerOptions extends ProtocolOptions {
  readonly addresses: AddressCounts
  readonly limits?: Partial<Http2Limits>
}

export interface ServedConnection extends Idling {
  readonly peerAddress: string
  /** No new streams. */
  drain(): void
  destroy(): void
  eachInFlight(callback: (exchange: Exchange) => void): void
}

/** What the connections see of their server. */
export interface Http2World extends CallerCode {
  readonly options: Http2ServerOptions
  readonly clock: Clock
  readonly deadlines: Deadlines
  readonly limits: Http2Limits
  readonly sessionOptions: SecureServerOptions
  readonly readHead: HeadReader
  readonly dateLine: () => string
  isDraining: boolean
  forget(connection: ServedConnection): void
}

/** What an exchange has of its connection. */
export interface ExchangeConnection<One> {
  readonly world: Http2World
  readonly peerAddress: string
  readonly progress: AnswerProgressWorld
  /** It holds as much as it may of what its client has not taken. */
  readonly isFull: boolean
  readonly isClosing: boolean
  readonly onTaken: () => void
  onWritten(bytes: number): void
  onWaiting(exchange: One): void
  endUpload(exchange: One): void
  forget(exchange: One, isCut: boolean, rstCode: number): void
}
