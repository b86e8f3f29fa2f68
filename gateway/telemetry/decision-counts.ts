/** What workers counted for the metrics, as the control plane wants it: by tenant and decision. */
import { TENANT_ID, type DecisionCount } from '../../shared/fleet/snapshot.ts'
import { OUTCOMES, type RequestCount } from './worker-counts.ts'

/** Of requests that were about a tenant and decided something: no paths of our own, no probes. */
export function decisionCounts(requests: readonly RequestCount[]): readonly DecisionCount[] {
  const counts = new Map<string, DecisionCount>()
  for (const [tenantId, outcome, , count] of requests) {
    const { decision = 'service', reason = '' } = OUTCOMES[outcome] ?? {}
    if (decision === 'service' || decision === 'probe' || !TENANT_ID.test(tenantId)) continue
    const key = `${tenantId} ${outcome}`
    counts.set(key, [tenantId, decision, reason, count + (counts.get(key)?.[3] ?? 0)])
  }
  return [...counts.values()]
}
