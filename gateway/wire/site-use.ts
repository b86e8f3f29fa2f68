/**
 * What a whole site may do at once, in a turn or in a second: anybody can have a /48 of IPv6, and with a
 * budget for each of its 65,536 networks nobody had one. What is held, as connections and streams, is
 * counted by /64 (`address-counts.ts`): a carrier's phones each have one. Of both a site has its share
 * besides, of streams by `http2/stream-share.ts`.
 */
import { LIMITS } from '../../shared/limits.ts'
import type { AddressTurn } from './address-turn.ts'
import { Spending } from './budget.ts'
import type { Throttle } from './throttle.ts'

/** A connection, which goes if it is the longest idle when its client has another to open. */
export interface Idling {
  /** Infinity while it has a request, or an answer on its way. */
  readonly idleSinceMs: number
  /** It ends, and leaves, at once. */
  destroy(): void
}

export class SiteUse {
  /** Of its addresses, how many are here. */
  addresses = 0
  /** All that they have open, those in the middle of a handshake among them, and who of them can give way. */
  connections = 0
  readonly members = new Set<Idling>()
  /** Unfinished streams of HTTP/2 that they have, and what they have not taken of answers. */
  readonly held = { streams: 0, headBytes: 0, unsentBytes: 0 }
  /** Which of its connections begin their requests, and when. */
  requests: AddressTurn | undefined
  /** Of reads that bring next to nothing, over HTTP/1.1 and in the middle of a WebSocket's frame. */
  smallReads: Throttle | undefined
  /** Of whole frames of WebSockets that bring next to nothing. */
  smallFrames: Throttle | undefined
  /** Of frames of HTTP/2 that carry next to nothing. */
  smallDataFrames: Throttle | undefined
  /** Of HTTP/2, beyond the first few of each connection. */
  resets: Spending | undefined
  cancels: Spending | undefined
  controlFrames: Spending | undefined
  idleFrames: Spending | undefined
  /** The pace of a site with many networks: those beyond it wait. */
  handshakes: Spending | undefined
  /** Bytes of TLS that brought nothing. */
  emptyRecords: Spending | undefined
  /** Connections of HTTP/2 that were over as soon as they had begun. */
  shortConnections: Spending | undefined
  /** Where they are many its handshakes come one at a time. */
  nextHandshakeMs = 0

  /** A short one costs a whole handshake, and what belongs to it is garbage at once. */
  noteEnded(tookMs: number, nowMs: number): void {
    if (tookMs >= LIMITS.shortConnectionMsMax) return
    this.shortConnections ??= new Spending(LIMITS.shortConnections, nowMs)
    this.shortConnections.spend(nowMs)
  }

  owes(nowMs: number): boolean {
    return Object.values(this).some((value) => value instanceof Spending && !value.isFull(nowMs))
  }
}
