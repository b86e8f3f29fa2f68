/**
 * What one of many may have of what all of them share: half of what the others leave. However many
 * want all of it, the next one finds some.
 */
export function createShares(most: number, { least = 1 } = {}) {
  const held = new Map<string, number>()
  let all = 0

  function set(name: string, count: number) {
    all += count - (held.get(name) ?? 0)
    if (count === 0) held.delete(name)
    else held.set(name, count)
  }

  return {
    /** False: it has its share. So many each has in any case. */
    take(name: string): boolean {
      const own = held.get(name) ?? 0
      const leftByOthers = most - (all - own)
      if (own >= Math.max(least, Math.floor(leftByOthers / 2))) return false
      set(name, own + 1)
      return true
    },
    giveBack(name: string): void {
      set(name, Math.max(0, (held.get(name) ?? 0) - 1))
    },
    clear(): void {
      held.clear()
      all = 0
    },
  }
}
