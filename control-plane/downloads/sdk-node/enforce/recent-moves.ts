/** Sessions that have been found at another client just now, so that each is told of once. */
const QUIET_SECONDS = 60
const REMEMBERED_MAX = 1000

export function createRecentMoves() {
  const seenAt = new Map<string, number>()

  return {
    isNew(sid: string, nowSeconds: number): boolean {
      const before = seenAt.get(sid)
      if (before !== undefined && nowSeconds - before < QUIET_SECONDS) return false
      if (seenAt.size >= REMEMBERED_MAX) seenAt.clear()
      seenAt.set(sid, nowSeconds)
      return true
    },
  }
}
