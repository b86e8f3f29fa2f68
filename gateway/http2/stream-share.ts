/**
 * How many unfinished streams a client may have, how much of their heads and of answers it does not take. An address has its bound,
 * but whoever has a /48 has 65,536 networks, and each of them counts as one: so a site has at most half of
 * what all others leave. A few each address has whatever its site holds, since that may be a carrier and its
 * phones.
 */
import type { EdgeLimits } from '../../shared/edge-limits.ts'
import type { AddressUse } from '../wire/address-counts.ts'
import { shareOf } from '../wire/share.ts'

/** Of a site, or of all of them at one worker. */
export interface HeldStreams {
  streams: number
  headBytes: number
  /** Of answers, what waits for whoever asked for them. */
  unsentBytes: number
}

export class StreamShare {
  readonly #limits: EdgeLimits
  readonly #all: HeldStreams
  readonly #use: AddressUse
  readonly #site: HeldStreams
  /** A balancer's connection is of many people. */
  readonly #isExempt: () => boolean

  constructor(limits: EdgeLimits, all: HeldStreams, use: AddressUse, isExempt: () => boolean) {
    this.#limits = limits
    this.#all = all
    this.#use = use
    this.#site = use.site.held
    this.#isExempt = isExempt
  }

  /** For one more stream. */
  get hasRoom(): boolean {
    const { http2StreamsPerAddressMax, http2StreamsFew } = this.#limits
    const { streams } = this.#use
    if (streams >= http2StreamsPerAddressMax) return this.#isExempt()
    return streams < http2StreamsFew || this.#site.streams < this.#streamsOfSite || this.#isExempt()
  }

  get #streamsOfSite(): number {
    const { http2StreamsMaxOfAll: most } = this.#limits
    return shareOf(most - (this.#all.streams - this.#site.streams), most)
  }

  hasRoomForHead(bytes: number): boolean {
    const { http2HeadBytesPerAddressMax, http2HeadBytesFew } = this.#limits
    const held = this.#use.headBytes + bytes
    if (held > http2HeadBytesPerAddressMax) return this.#isExempt()
    const isOfSite = this.#site.headBytes + bytes <= this.#headBytesOfSite
    return held <= http2HeadBytesFew || isOfSite || this.#isExempt()
  }

  get #headBytesOfSite(): number {
    const { http2HeadBytesMaxOfAll: most } = this.#limits
    return shareOf(most - (this.#all.headBytes - this.#site.headBytes), most)
  }

  /** Of `asked`, what a connection may have unsent that has `own` of it already: `least` in any case. */
  unsentMax(asked: number, least: number, own: number): number {
    if (this.#isExempt()) return asked
    const { http2UnsentBytesMaxOfAll: most } = this.#limits
    const { unsentBytes } = this.#site
    const ofSite = shareOf(most - (this.#all.unsentBytes - unsentBytes), most)
    return Math.max(least, Math.min(asked, ofSite - (unsentBytes - own)))
  }

  /** So much more of it, or less. */
  holdUnsent(bytes: number): void {
    if (this.#isExempt()) return
    this.#site.unsentBytes += bytes
    this.#all.unsentBytes += bytes
  }

  get hasRoomForUpload(): boolean {
    return this.#use.uploads < this.#limits.http2UploadsPerAddressMax || this.#isExempt()
  }

  /** A new connection is to open few at once: more would only be turned away, each as dear as an answer. */
  get isScarce(): boolean {
    const { http2StreamsPerAddressMax, http2UploadsPerAddressMax } = this.#limits
    const { streams, uploads } = this.#use
    const isFree =
      2 * streams < http2StreamsPerAddressMax &&
      2 * uploads < http2UploadsPerAddressMax &&
      2 * this.#site.streams < this.#streamsOfSite
    return !isFree && !this.#isExempt()
  }

  begin(headBytes = 0): void {
    this.#add(1, headBytes)
  }

  /** What has begun with as much. */
  end(headBytes = 0): void {
    this.#add(-1, -headBytes)
  }

  #add(streams: number, headBytes: number): void {
    this.#use.streams += streams
    this.#use.headBytes += headBytes
    if (this.#isExempt()) return
    this.#site.streams += streams
    this.#site.headBytes += headBytes
    this.#all.streams += streams
    this.#all.headBytes += headBytes
  }
}
