/**
 * Who counts as polling, and how often each tenant's instances are to come: as its own number
 * asks for, and never more often than the number of all allows. There a tenant counts up to its
 * share, so that names which somebody invents for one tenant slow nobody else.
 */
import { LIMITS } from '../../shared/limits.ts'
import { pollInterval, POLL_STEPS_SECONDS } from './poll-interval.ts'

interface OfTenant {
  polling: number
  seconds: number
}

export function createPolling() {
  /** Until when each counts; who came last is last. */
  const untilMs = new Map<{ readonly tenantId: string }, number>()
  const byTenant = new Map<string, OfTenant>()
  let countedOfAll = 0
  let secondsOfAll: number = POLL_STEPS_SECONDS[0]

  function change(tenantId: string, by: 1 | -1) {
    const tenant = byTenant.get(tenantId) ?? { polling: 0, seconds: POLL_STEPS_SECONDS[0] }
    const countedBefore = shareOf(tenant)
    tenant.polling += by
    countedOfAll += shareOf(tenant) - countedBefore
    if (tenant.polling === 0) byTenant.delete(tenantId)
    else byTenant.set(tenantId, tenant)
  }

  function remove(instance: { readonly tenantId: string }) {
    if (untilMs.delete(instance)) change(instance.tenantId, -1)
  }

  return {
    /** The end is never before that of who came earlier. */
    add(instance: { readonly tenantId: string }, countsUntilMs: number) {
      if (!untilMs.delete(instance)) change(instance.tenantId, 1)
      untilMs.set(instance, countsUntilMs)
    },
    remove,
    dropAbsent(nowMs: number) {
      for (const [instance, until] of untilMs) {
        if (until > nowMs) return
        remove(instance)
      }
    },
    /** Of one tenant, and of all: once for every poll. */
    settle(tenantId: string) {
      secondsOfAll = pollInterval(countedOfAll, secondsOfAll)
      const tenant = byTenant.get(tenantId)
      if (tenant !== undefined) tenant.seconds = pollInterval(tenant.polling, tenant.seconds)
    },
    of: (tenantId: string) => byTenant.get(tenantId)?.polling ?? 0,
    seconds: (tenantId: string) => Math.max(secondsOfAll, byTenant.get(tenantId)?.seconds ?? 0),
  }
}

function shareOf({ polling }: OfTenant): number {
  return Math.min(polling, LIMITS.feedInstancesCountedPerTenantMax)
}
