/** Which sealed paths are being tried, of the newest requests for them. */
import { LIMITS } from '../../shared/limits.ts'
import { sealedPathsOf, type TriedPath } from '../store/queries/enforcement-events.ts'
import type { Store } from '../store/store.ts'

export type { TriedPath } from '../store/queries/enforcement-events.ts'

interface TriedPaths {
  readonly tried: readonly TriedPath[]
  /** There are more events than were put together. */
  readonly isCut: boolean
}

export function createSealedPaths({ store }: { readonly store: Pick<Store, 'read'> }) {
  return {
    async tried(tenantId: string): Promise<TriedPaths> {
      const most = LIMITS.sealedEventsGroupedMax
      const { rows, tried } = await sealedPathsOf(store.read, tenantId, most)
      return { tried: tried.slice(0, LIMITS.sealedPathsListedMax), isCut: rows === most }
    },
  }
}
