/**
 * What is told of a change: it is kept for long, and sent to many. Of a list, which may be a hundred
 * kilobytes, that is what came and what went, and how many: in an event a few of each. The audit trail
 * has all that fits, short ones first, so that nobody hides one entry behind others of their choice.
 */
import { LIMITS } from '../../shared/limits.ts'

type Settings = Readonly<Record<string, unknown>>

/** Names as in events and in the audit trail. */
interface ListChange {
  /** How many there are now. */
  count: number
  added: unknown[]
  added_count: number
  removed: unknown[]
  removed_count: number
}

interface ToldChange {
  /** Without lists. */
  readonly from: Settings
  readonly to: Settings
  /** Of those that are other than before. */
  readonly lists?: Record<string, ListChange>
}

const most = LIMITS.listEntriesToldMax

export function toldChange(from: Settings, to: Settings): ToldChange {
  const lists: Record<string, ListChange> = {}
  for (const [name, after] of Object.entries(to)) {
    const before = from[name]
    if (!Array.isArray(before) || !Array.isArray(after)) continue
    if (JSON.stringify(before) === JSON.stringify(after)) continue
    const added = missingIn(before, after)
    const removed = missingIn(after, before)
    lists[name] = {
      count: after.length,
      added: fitting(added),
      added_count: added.length,
      removed: fitting(removed),
      removed_count: removed.length,
    }
  }
  const isPlain = ([name, value]: [string, unknown]) => name in to && !Array.isArray(value)
  return {
    from: Object.fromEntries(Object.entries(from).filter(isPlain)),
    to: Object.fromEntries(Object.entries(to).filter(isPlain)),
    ...(Object.keys(lists).length > 0 && { lists }),
  }
}

/** For an event. */
export function withFewEntries(lists: Readonly<Record<string, ListChange>>) {
  return Object.fromEntries(
    Object.entries(lists).map(([name, { added, removed, ...counts }]) => [
      name,
      { ...counts, added: added.slice(0, most), removed: removed.slice(0, most) },
    ]),
  )
}

/** As they are now, but for lists of more than a few. */
export function withoutLongLists(settings: Settings): Record<string, unknown> {
  const isShort = ([, value]: [string, unknown]) => !Array.isArray(value) || value.length <= most
  return Object.fromEntries(Object.entries(settings).filter(isShort))
}

function missingIn(list: readonly unknown[], items: readonly unknown[]): unknown[] {
  const known = new Set(list)
  return [...new Set(items)].filter((item) => !known.has(item))
}

/** In their order where all fit. */
function fitting(items: unknown[]): unknown[] {
  const texts = new Map(items.map((item) => [item, JSON.stringify(item)]))
  const bytesOf = (item: unknown) => Buffer.byteLength(texts.get(item)!)
  let left = LIMITS.auditListBytesMax
  const kept = new Set(
    items
      .toSorted((one, other) => bytesOf(one) - bytesOf(other))
      .filter((item) => (left -= bytesOf(item)) >= 0),
  )
  return items.filter((item) => kept.has(item))
}
