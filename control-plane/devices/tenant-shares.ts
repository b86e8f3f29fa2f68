/**
 * What one tenant may have of what all tenants share: half of what the others leave. However many of
 * them want all of it, the next one finds some.
 */
export function createTenantShares(most: number) {
  const held = new Map<string, number>()
  let all = 0

  function set(tenantId: string, count: number) {
    all += count - (held.get(tenantId) ?? 0)
    if (count === 0) held.delete(tenantId)
    else held.set(tenantId, count)
  }

  return {
    /** False: it has its share. */
    take(tenantId: string): boolean {
      const own = held.get(tenantId) ?? 0
      const leftByOthers = most - (all - own)
      if (own >= Math.max(1, Math.floor(leftByOthers / 2))) return false
      set(tenantId, own + 1)
      return true
    },
    giveBack(tenantId: string): void {
      set(tenantId, Math.max(0, (held.get(tenantId) ?? 0) - 1))
    },
    clear(): void {
      held.clear()
      all = 0
    },
  }
}
