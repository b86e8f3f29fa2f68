/** The newest refusals of a tenant, wherever they happened: at the sign-in, or on the way in. */
import { newestRefusedSignIns } from '../store/queries/sign-ins.ts'
import { enforcementEventsBefore } from '../store/queries/enforcement-events.ts'
import { isTrialId } from '../store/queries/users.ts'
import type { Store } from '../store/store.ts'
import type { FigureOutcome } from '../store/monitoring-names.ts'

export interface LatestRefusal {
  readonly at: number
  readonly outcome: FigureOutcome
  readonly reason: string
  readonly subject: string | null
  readonly ip: string | null
  /** How often the same was refused again within its minute. */
  readonly repeated?: number
}

/** What gateways and middlewares report one by one. */
const REPORTED = ['sealed', 'refused', 'terminate'] as const

export function createRefusals({ store }: { readonly store: Pick<Store, 'read'> }) {
  return {
    /** Newest first. */
    async latest(tenantId: string, limit: number): Promise<readonly LatestRefusal[]> {
      const signIns = await newestRefusedSignIns(store.read, tenantId, limit)
      const reported = await Promise.all(
        REPORTED.map(async (outcome) => {
          const rows = await enforcementEventsBefore(
            store.read,
            tenantId,
            { outcome },
            undefined,
            limit,
          )
          return rows.map(({ at, reason, subject, ip }): LatestRefusal => {
            return { at, outcome, reason: reason ?? '', subject, ip }
          })
        }),
      )
      const denied = signIns
        .filter(({ userId }) => userId === null || !isTrialId(userId))
        .map(({ at, userId, ip, reason, repeated }): LatestRefusal => {
          return { at, outcome: 'denied', reason, subject: userId, ip, repeated }
        })
      return [...denied, ...reported.flat()].sort((a, b) => b.at - a.at).slice(0, limit)
    },
  }
}
