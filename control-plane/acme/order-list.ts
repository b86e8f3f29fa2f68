/**
 * The orders of our account, as its authority lists them (RFC 8555 section 7.1.2.1): where one is found
 * that was asked for and never heard of. An authority may keep no list, and then nothing is found.
 */
import { LRUCache } from 'lru-cache'

interface Page {
  readonly urls: readonly string[]
  readonly next: string | undefined
}

interface ListedOrder {
  readonly status: string
  readonly identifiers: readonly { readonly value: string }[]
}

interface ListWorld {
  /** Where the list begins; undefined: there is none. */
  readonly first: () => Promise<string | undefined>
  /** undefined: it is not there; nor is an order that is over, and forgotten. */
  readonly page: (url: string) => Promise<Page | undefined>
  readonly order: (url: string) => Promise<ListedOrder | undefined>
  readonly nowMs: () => number
}

/** A list of pages without an end is none. Pebble puts three orders on a page. */
const PAGES_MAX = 10_000
/** The one that is looked for is among the newest: those stand at one end, and nobody says at which. */
const LOOKED_AT_EACH_END_MAX = 1000

export function createOrderList({ first, page, order, nowMs }: ListWorld) {
  /** What each is for, so that it is asked once. */
  const orderedFor = new LRUCache<string, string>({ max: 4 * LOOKED_AT_EACH_END_MAX })
  let read: { readonly startedMs: number; readonly urls: Promise<readonly string[]> } | undefined

  async function readAll(): Promise<readonly string[]> {
    const urls: string[] = []
    const pages = new Set<string>()
    let next = await first()
    while (next !== undefined && !pages.has(next) && pages.size < PAGES_MAX) {
      pages.add(next)
      const answer = await page(next)
      urls.push(...(answer?.urls ?? []))
      next = answer?.next
    }
    const newestLast = urls.slice(-LOOKED_AT_EACH_END_MAX).reverse()
    return [...new Set([...newestLast, ...urls.slice(0, LOOKED_AT_EACH_END_MAX)])]
  }

  /** After a crash several look at the same time: one reading is enough that began after their questions. */
  function urlsSince(sinceMs: number): Promise<readonly string[]> {
    if (read !== undefined && read.startedMs >= sinceMs) return read.urls
    const mine = { startedMs: nowMs(), urls: readAll() }
    read = mine
    mine.urls.catch(() => {
      if (read === mine) read = undefined
    })
    return mine.urls
  }

  /** One for this name that is under way, of those that were there at this time. */
  async function find(hostname: string, sinceMs: number): Promise<string | undefined> {
    for (const url of await urlsSince(sinceMs)) {
      if ((orderedFor.get(url) ?? hostname) !== hostname) continue
      const found = await order(url)
      if (found === undefined) continue
      const names = found.identifiers.map(({ value }) => value).join(' ')
      orderedFor.set(url, names)
      if (names === hostname && (found.status === 'pending' || found.status === 'ready')) return url
    }
    return undefined
  }

  return { find }
}
