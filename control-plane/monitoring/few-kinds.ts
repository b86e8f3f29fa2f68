/**
 * What an application reports is counted by outcome and reason, each pair a row of every minute and
 * hour that alerts, digests and pages read. Which pairs those are says whoever holds the secret: so
 * many are told apart in an hour, and of all others the reason is not.
 */
import { LRUCache } from 'lru-cache'
import { HOUR_MS, type Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { Figure } from '../store/monitoring-names.ts'
import { tally } from './outcomes.ts'

interface Known {
  readonly hour: number
  readonly pairs: Set<string>
}

/** Whoever is forgotten is met anew. */
const TENANTS_KEPT = 10_000

export function createFewKinds(clock: Clock) {
  const byTenant = new LRUCache<string, Known>({ max: TENANTS_KEPT })

  function knownOf(tenantId: string): Known {
    const hour = Math.floor(clock.nowMs() / HOUR_MS)
    const before = byTenant.get(tenantId)
    if (before?.hour === hour) return before
    const known = { hour, pairs: new Set<string>() }
    byTenant.set(tenantId, known)
    return known
  }

  return (tenantId: string, figures: readonly Figure[]): readonly Figure[] => {
    const { pairs } = knownOf(tenantId)
    const kept = figures.map((figure) => {
      const pair = `${figure.outcome} ${figure.reason}`
      if (pairs.size < LIMITS.figureKindsPerHourMax) pairs.add(pair)
      return pairs.has(pair) ? figure : { ...figure, reason: 'other' }
    })
    return tally(kept)
  }
}
