/**
 * Handshakes that are to be begun: sites in rotation, and within a site its networks. A site begins so
 * many a second and waits beyond that; it is not refused, or one phone of a carrier would keep all the
 * others of its /48 out. One whose connections are over as soon as they have begun begins them one at a
 * time: eight in a row are what everybody else's requests wait for.
 */
import { LIMITS } from '../../shared/limits.ts'
import { FairQueue } from '../wire/fair-queue.ts'
import type { SiteUse } from '../wire/site-use.ts'

const GAP_MS = 1000 / LIMITS.shortConnections.perSecond
const HURRIED_BELOW = LIMITS.shortConnections.burst / 2

export interface Queued {
  /** Whom it is counted for within its site. */
  readonly client: string
  readonly site: SiteUse
}

export class HandshakeQueue<Item extends Queued> {
  size = 0
  /** In the order of their turns. */
  readonly #bySite = new Map<SiteUse, FairQueue<Item>>()

  add(item: Item): void {
    const queue = this.#bySite.get(item.site) ?? new FairQueue<Item>()
    this.#bySite.set(item.site, queue)
    queue.add(item)
    this.size++
  }

  delete(item: Item): void {
    const queue = this.#bySite.get(item.site)
    if (queue === undefined) return
    const before = queue.size
    queue.delete(item)
    this.size -= before - queue.size
    if (queue.size === 0) this.#bySite.delete(item.site)
  }

  countOf(site: SiteUse): number {
    return this.#bySite.get(site)?.size ?? 0
  }

  /** Who came last of the site that has the most waiting, and more than so many. */
  takeLast(moreThan: number): Item | undefined {
    let most = moreThan
    let largest: FairQueue<Item> | undefined
    for (const queue of this.#bySite.values())
      if (queue.size > most) {
        most = queue.size
        largest = queue
      }
    const item = largest?.last()
    if (item !== undefined) this.delete(item)
    return item
  }

  /** Of the next site that has earned one. */
  next(nowMs: number): Item | undefined {
    for (const [site, queue] of this.#bySite) {
      if (isToWait(site, nowMs) || site.handshakes?.spend(nowMs) === false) continue
      site.nextHandshakeMs = nowMs + GAP_MS
      const item = queue.next()
      this.#bySite.delete(site)
      if (queue.size > 0) this.#bySite.set(site, queue)
      this.size--
      return item
    }
    return undefined
  }
}

function isToWait({ shortConnections, nextHandshakeMs }: SiteUse, nowMs: number): boolean {
  if (shortConnections === undefined || shortConnections.leftAt(nowMs) >= HURRIED_BELOW)
    return false
  const waitMs = nextHandshakeMs - nowMs
  return waitMs > 0 && waitMs <= GAP_MS // a clock that was set back has nobody wait for it
}
