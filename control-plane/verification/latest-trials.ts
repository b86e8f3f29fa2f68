/** The newest trial sign-in of each tenant, until this program ends: what the checklist shows of it. */
import { LIMITS } from '../../shared/limits.ts'
import type { CheckResult } from './checks.ts'

export interface LatestTrial {
  readonly atMs: number
  /** Of the tenant, as it was tried: what has changed since may be why it failed. */
  readonly revision: number
  readonly checks: readonly CheckResult[]
}

export function createLatestTrials(most: number = LIMITS.signInTrialsKeptMax) {
  const byTenant = new Map<string, LatestTrial>()

  return {
    put(tenantId: string, trial: LatestTrial): void {
      byTenant.delete(tenantId)
      byTenant.set(tenantId, trial)
      if (byTenant.size <= most) return
      const [oldest] = byTenant.keys()
      if (oldest !== undefined) byTenant.delete(oldest)
    },

    of({ tenantId, revision }: { readonly tenantId: string; readonly revision: number }) {
      const trial = byTenant.get(tenantId)
      return trial?.revision === revision ? trial : undefined
    },
  }
}
