/**
 * Connectors come back all at once, after an outage or a restart of ours, and each of their handshakes
 * takes as long as a hundred requests. They have a pace of their own, behind all visitors; whoever would
 * wait for too long is refused before anything was computed for it, and comes again by its backoff.
 *
 * Anybody can say to be one. Where all places are taken, whoever comes from a site that has few of them
 * gets one of the site that has the most; and who has been a connector here before has three turns and
 * three places of four, whatever strangers do.
 */
import { LIMITS } from '../../shared/limits.ts'
import { Spending, type Budget } from '../wire/budget.ts'
import { HandshakeQueue, type Queued } from './handshake-queue.ts'

interface ConnectorHandshakesOptions {
  readonly pace: Budget
  readonly waitingMsMax: number
  readonly nowMs: number
}

/** Of turns, and of places where all are taken: one of so many is a stranger's. */
const STRANGERS = 4

export class ConnectorHandshakes<Item extends Queued> {
  readonly #pace: Spending
  readonly #waitingMax: number
  readonly #known = new Waiting<Item>()
  readonly #strangers = new Waiting<Item>()
  /** From where connectors have proven to come, the latest last, and the site of each. */
  readonly #clients = new Map<string, string>()
  /** How many of a site. */
  readonly #knownOf = new Map<string, number>()
  #turns = 0

  constructor({ pace, waitingMsMax, nowMs }: ConnectorHandshakesOptions) {
    this.#pace = new Spending(pace, nowMs)
    this.#waitingMax = pace.burst + Math.floor((pace.perSecond * waitingMsMax) / 1000)
  }

  get size(): number {
    return this.#known.size + this.#strangers.size
  }

  /** It has proven to be a connector. No site can have all others forgotten. */
  know(client: string, site: string): void {
    this.#forget(client)
    this.#clients.set(client, site)
    const ofSite = (this.#knownOf.get(site) ?? 0) + 1
    this.#knownOf.set(site, ofSite)
    if (ofSite > LIMITS.connectorClientsKnownOfSiteMax) this.#forgetOldest(site)
    else if (this.#clients.size > LIMITS.connectorClientsKnownMax) this.#forgetOldest()
  }

  isKnown(client: string): boolean {
    return this.#clients.has(client)
  }

  #forgetOldest(ofSite?: string): void {
    for (const [client, site] of this.#clients)
      if (ofSite === undefined || site === ofSite) return this.#forget(client)
  }

  #forget(client: string): void {
    const site = this.#clients.get(client)
    if (site === undefined) return
    this.#clients.delete(client)
    const left = this.#knownOf.get(site)! - 1
    if (left === 0) this.#knownOf.delete(site)
    else this.#knownOf.set(site, left)
  }

  /** As many wait as can have their turn in time: gives back who has no place, it or another. */
  add(item: Item, isSpare: boolean): Item | undefined {
    const isKnown = this.isKnown(item.client)
    const [own, others] = isKnown ? [this.#known, this.#strangers] : [this.#strangers, this.#known]
    if (this.size >= this.#waitingMax) {
      const ofStrangers = Math.floor(this.#waitingMax / STRANGERS)
      const places = isKnown ? this.#waitingMax - ofStrangers : ofStrangers
      const out = own.size < places ? others.giveUpAny() : own.giveUpFor(item, isSpare)
      if (out === undefined) return item
      own.add(item, isSpare)
      return out
    }
    own.add(item, isSpare)
    return undefined
  }

  delete(item: Item): void {
    this.#known.delete(item)
    this.#strangers.delete(item)
  }

  next(nowMs: number): Item | undefined {
    if (this.size === 0 || this.#pace.isSpent(nowMs)) return undefined
    const isOfStrangers = this.#turns % STRANGERS === STRANGERS - 1
    const item = isOfStrangers
      ? (this.#strangers.next(nowMs) ?? this.#known.next(nowMs))
      : (this.#known.next(nowMs) ?? this.#strangers.next(nowMs))
    if (item === undefined) return undefined
    this.#turns++
    this.#pace.spend(nowMs)
    return item
  }
}

class Waiting<Item extends Queued> {
  /** Without which its tenant is not served at all. */
  readonly #first = new HandshakeQueue<Item>()
  readonly #spare = new HandshakeQueue<Item>()

  get size(): number {
    return this.#first.size + this.#spare.size
  }

  add(item: Item, isSpare: boolean): void {
    if (isSpare) this.#spare.add(item)
    else this.#first.add(item)
  }

  delete(item: Item): void {
    this.#first.delete(item)
    this.#spare.delete(item)
  }

  next(nowMs: number): Item | undefined {
    return this.#first.next(nowMs) ?? this.#spare.next(nowMs)
  }

  giveUpAny(): Item | undefined {
    return this.#spare.takeLast(0) ?? this.#first.takeLast(0)
  }

  /** Of a site that has more waiting than this one would have. */
  giveUpFor({ site }: Item, isSpare: boolean): Item | undefined {
    if (isSpare) return this.#spare.takeLast(this.#spare.countOf(site) + 1)
    return this.#spare.takeLast(0) ?? this.#first.takeLast(this.#first.countOf(site) + 1)
  }
}
