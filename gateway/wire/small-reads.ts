/**
 * How small the pieces are that a client sends: each costs the same, whatever is in it, and over TLS a
 * record of one byte is one. Whoever sends enough beside them sends as many as it likes; the others
 * have what their site may spend, and are slowed down beyond it.
 */
import { LIMITS } from '../../shared/limits.ts'
import type { SteadyClock } from '../../shared/clock.ts'
import type { EdgeLimits } from '../../shared/edge-limits.ts'
import type { ReadCounts } from './exchange.ts'
import type { SiteUse } from './site-use.ts'
import { Throttle, ThrottledSender } from './throttle.ts'

export interface SmallReadsWorld {
  /** Of the site; undefined for whoever is many people. */
  smallReadsOf(address: string): Throttle | undefined
  smallFramesOf(address: string): Throttle | undefined
  /** A connection ends for what its client sends. */
  tellSmallReads(address: string): void
}

interface SmallReadsOptions {
  /** Undefined for whoever is many people. */
  readonly siteOf: (address: string) => SiteUse | undefined
  readonly limits: EdgeLimits
  readonly clock: SteadyClock
  readonly onAbuse: (address: string) => void
}

/** The same budgets on every wire: a site has them once. */
export const createSmallReadsWorld = (options: SmallReadsOptions): SmallReadsWorld => ({
  smallReadsOf(address) {
    const site = options.siteOf(address)
    return site && (site.smallReads ??= new Throttle(options.limits.smallReads, options.clock))
  },
  smallFramesOf(address) {
    const site = options.siteOf(address)
    return site && (site.smallFrames ??= new Throttle(options.limits.smallFrames, options.clock))
  },
  tellSmallReads: options.onAbuse,
})

export class SmallReads implements ReadCounts {
  /** Called when it may be read again. */
  onGoOn: () => void
  #surplus = 0
  readonly #world: SmallReadsWorld
  readonly #address: string
  readonly #pieces = new ThrottledSender(() => this.onGoOn())
  #whole: ThrottledSender | null = null

  constructor(world: SmallReadsWorld, address: string, onGoOn: () => void) {
    this.#world = world
    this.#address = address
    this.onGoOn = onGoOn
  }

  /** Nothing is to be read for now. */
  get isWaiting(): boolean {
    return this.#pieces.isWaiting || this.#whole?.isWaiting === true
  }

  /** For a read that ended in the middle of something. False: this has to end. */
  count(bytes: number): boolean {
    if (bytes >= LIMITS.smallReadBytes) {
      if (this.#surplus > 0)
        this.#surplus = Math.max(0, this.#surplus - Math.floor(bytes / LIMITS.smallReadBytes))
      return true
    }
    if (this.#surplus < LIMITS.smallReadsFree) {
      this.#surplus++
      return true
    }
    const throttle = this.#world.smallReadsOf(this.#address)
    if (throttle === undefined || this.#pieces.send(throttle)) return true
    this.#world.tellSmallReads(this.#address)
    return false
  }

  /** For a read that is small, and whole: nobody is ended for these. */
  countWhole(): void {
    const throttle = this.#world.smallFramesOf(this.#address)
    if (throttle === undefined) return
    this.#whole ??= new ThrottledSender(() => this.onGoOn())
    this.#whole.send(throttle)
  }

  /** The connection is gone. */
  leave(): void {
    this.#pieces.leave()
    this.#whole?.leave()
  }
}
