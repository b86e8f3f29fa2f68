/**
 * Many addresses hold together what no one of them may. Whoever holds the most loses the largest of
 * it, again and again, until the rest fits: so a crowd of small holders loses nothing to a large one.
 */
interface Held<T> {
  /** An address, or something that stands for nobody else. */
  readonly holder: object
  readonly one: T
  readonly bytes: number
}

/** What to let go of, so that no more than `bytesMax` are held. */
export function beyondBound<T>(all: readonly Held<T>[], bytesMax: number): T[] {
  let surplus = sumOf(all) - bytesMax
  if (surplus <= 0) return []
  const holders = new Map<object, { bytes: number; readonly smallestFirst: Held<T>[] }>()
  for (const held of all.toSorted((a, b) => a.bytes - b.bytes)) {
    const holder = holders.get(held.holder) ?? { bytes: 0, smallestFirst: [] }
    holder.bytes += held.bytes
    holder.smallestFirst.push(held)
    holders.set(held.holder, holder)
  }
  const beyond: T[] = []
  while (surplus > 0) {
    const most = holders.values().reduce((a, b) => (b.bytes > a.bytes ? b : a))
    const largest = most.smallestFirst.pop()
    if (largest === undefined) break
    most.bytes -= largest.bytes
    surplus -= largest.bytes
    beyond.push(largest.one)
  }
  return beyond
}

function sumOf(all: readonly Held<unknown>[]): number {
  return all.reduce((sum, { bytes }) => sum + bytes, 0)
}
