/** What a server of HTTP/1.1 and its connections have of each other. */
import type { Clock } from '../../shared/clock.ts'
import type { EdgeLimits } from '../../shared/edge-limits.ts'
import type { AddressCounts } from '../wire/address-counts.ts'
import type { Idling } from '../wire/site-use.ts'
import type { AddressTurn } from '../wire/address-turn.ts'
import type { SpareBuffer } from '../wire/client-writer.ts'
import type { Deadlines } from '../wire/deadlines.ts'
import type { Exchange } from '../wire/exchange.ts'
import type { CallerCode, ProtocolOptions, ProtocolTimeouts } from '../wire/protocol.ts'
import type { SmallReadsWorld } from '../wire/small-reads.ts'

export interface Http1ServerOptions extends ProtocolOptions {
  readonly limits?: Partial<EdgeLimits>
  /** Shared with the other protocols; it then holds the limit and its exemptions. */
  readonly addresses?: AddressCounts
}

export interface ServedConnection extends Idling {
  readonly peerAddress: string
  readonly exchange: Exchange | null
  /** No further request; settles by `forget`. */
  drain(): void
  destroy(): void
}

/** What the connections see of their server. */
export interface Http1World extends SmallReadsWorld, CallerCode {
  readonly options: Http1ServerOptions
  readonly clock: Clock
  readonly deadlines: Deadlines
  readonly timeouts: ProtocolTimeouts
  readonly limits: EdgeLimits
  readonly dateLine: () => string
  /** All connections read into these bytes, one after the other. */
  readonly readBuffer: Buffer
  readonly spare: SpareBuffer
  /** Milliseconds of idleness that a draining server still allows; -1 while it is not draining. */
  drainGraceMs: number
  forget(connection: ServedConnection): void
  /** Shared by all connections of a site. */
  turnOf(address: string): AddressTurn
}
