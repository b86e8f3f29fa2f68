/**
 * How often forms are sent. Each of them writes, into the audit trail for more than a year, on the
 * disk of all: so one person's are counted, from however many addresses, and one tenant's, whoever
 * they are. Operators are not held up by what a tenant's own people do.
 */
import { mayChange } from '../console-access/roles.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { RateLimits } from '../../shared/rate-limits.ts'
import type { Viewer } from '../console-access/console-sessions.ts'

export function savesTooOften(
  rates: RateLimits,
  viewer: Pick<Viewer, 'userId' | 'changes'> | undefined,
  tenantId: string | undefined,
): Refusal | undefined {
  if (viewer === undefined) return undefined
  const isTenants = tenantId !== undefined && !mayChange(viewer)
  const wait =
    rates.waitSeconds('console saves', viewer.userId, LIMITS.rateConsoleSaves) ??
    (isTenants
      ? rates.waitSeconds('console saves of a tenant', tenantId, LIMITS.rateConsoleSavesOfTenant)
      : undefined)
  if (wait === undefined) return undefined
  const when = wait === 1 ? 'a second' : `${wait} seconds`
  const detail = `That was a lot of changes at once, and this one was not made. Wait ${when}, then send it again.`
  return new Refusal('rate_limited', { retry_after: wait }, detail)
}

/** Whether the whole form is drawn once more for whoever is refused so fast; else it says less. */
export function isShownAgain(rates: RateLimits, viewer: Viewer | undefined): boolean {
  if (viewer === undefined) return true
  const wait = rates.waitSeconds('console forms', viewer.userId, LIMITS.rateConsoleFormsShownAgain)
  return wait === undefined
}
