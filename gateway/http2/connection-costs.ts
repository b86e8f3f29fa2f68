/**
 * What a client causes and we pay for: streams that end before their time, frames that are owed an
 * answer. Each connection has a budget, so that it is the one that is ended. But the next connection
 * begins a new one, so its site has another for all of them, beyond a few of each: whoever has
 * somebody like that behind the same NAT comes in and is answered.
 */
import type { EdgeLimits } from '../../shared/edge-limits.ts'
import { LIMITS } from '../../shared/limits.ts'
import { Spending } from '../wire/budget.ts'
import type { SiteUse } from '../wire/site-use.ts'
import type { Cost } from './world.ts'

export class ConnectionCosts {
  readonly #own: Record<Cost, Spending>
  readonly #limits: EdgeLimits
  /** Null for whoever is many people. */
  readonly #site: SiteUse | null
  readonly #free: Spending
  readonly #freeIdle: Spending

  constructor(limits: EdgeLimits, site: SiteUse | null, nowMs: number) {
    this.#limits = limits
    this.#site = site
    this.#free = new Spending(LIMITS.http2CostsFree, nowMs)
    this.#freeIdle = new Spending(LIMITS.http2IdleFramesFree, nowMs)
    this.#own = {
      resets: new Spending(limits.http2Resets, nowMs),
      cancels: new Spending(limits.http2Cancels, nowMs),
      controlFrames: new Spending(limits.http2ControlFrames, nowMs),
      idleFrames: new Spending(limits.http2IdleFrames, nowMs),
    }
  }

  /** False where nothing is left. */
  spend(cost: Cost, nowMs: number): boolean {
    if (!this.#own[cost].spend(nowMs)) return false
    const site = this.#site
    const free = cost === 'idleFrames' ? this.#freeIdle : this.#free
    if (site === null || free.spend(nowMs)) return true
    site[cost] ??= new Spending(this.#limits.http2CostsPerSite[cost], nowMs)
    return site[cost].spend(nowMs)
  }
}
