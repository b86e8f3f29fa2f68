/** The newest refusals of a tenant, wherever they happened: at the sign-in, or on the way in. */
import { newestFailedSignIns, newestRefusedSignIns } from '../store/queries/sign-ins.ts'
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
  /** Of a request, where it was reported. */
  readonly path?: string | null
  /** How often the same was refused again within its minute. */
  readonly repeated?: number
}

/** What gateways and middlewares report one by one. */
const REPORTED = ['sealed', 'refused', 'terminate'] as const

export function createRefusals({ store }: { readonly store: Pick<Store, 'read'> }) {
  return {
    /** Newest first. */
    async latest(tenantId: string, limit: number): Promise<readonly LatestRefusal[]> {
      const refused = await newestRefusedSignIns(store.read, tenantId, limit)
      const failed = await newestFailedSignIns(store.read, tenantId, limit)
      const reported = await Promise.all(
        REPORTED.map(async (outcome) => {
          const rows = await enforcementEventsBefore(
            store.read,
            tenantId,
            { outcome },
            undefined,
            limit,
          )
          return rows.map(({ at, reason, subject, ip, path, count }): LatestRefusal => {
            return { at, outcome, reason: reason ?? '', subject, ip, path, repeated: count - 1 }
          })
        }),
      )
      const signIns = [
        ...refused.map((row) => ({ ...row, outcome: 'denied' as const })),
        ...failed.map((row) => ({ ...row, outcome: 'failed' as const })),
      ]
        .filter(({ userId }) => userId === null || !isTrialId(userId))
        .map(({ userId: subject, ...row }): LatestRefusal => ({ ...row, subject }))
      return [...signIns, ...reported.flat()].sort((a, b) => b.at - a.at).slice(0, limit)
    },
  }
}
