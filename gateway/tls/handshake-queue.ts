/**
 * Handshakes that are to be begun: sites in rotation, and within a site its networks. A site begins so
 * many a second and waits beyond that; it is not refused, or one phone of a carrier would keep all the
 * others of its /48 out.
 */
import { FairQueue } from '../wire/fair-queue.ts'
import type { SiteUse } from '../wire/site-use.ts'

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

  /** Of the next site that has earned one. */
  next(nowMs: number): Item | undefined {
    for (const [site, queue] of this.#bySite) {
      if (site.handshakes?.spend(nowMs) === false) continue
      const item = queue.next()
      this.#bySite.delete(site)
      if (queue.size > 0) this.#bySite.set(site, queue)
      this.size--
      return item
    }
    return undefined
  }
}
