/** The guide of a tenant: the newest one, whoever asks for it (`apply`, the console). */
import type { Guide } from '../../shared/integration/guide.ts'
import { LIMITS } from '../../shared/limits.ts'
import { insertGuide, newestGuide } from '../store/queries/guides.ts'
import type { Change, Store } from '../store/store.ts'

export interface StoredGuide extends Guide {
  readonly summary: string
  readonly warnings: readonly string[]
  readonly model: string
}

export type Guides = ReturnType<typeof createGuides>

export function createGuides({ store }: { readonly store: Pick<Store, 'read'> }) {
  return {
    async latest(tenantId: string): Promise<StoredGuide | undefined> {
      const row = await newestGuide(store.read, tenantId)
      if (row === undefined) return undefined
      const { guideId, framework, createdAt, model, content } = row
      return {
        guide_id: guideId,
        framework,
        created_at: new Date(createdAt).toISOString(),
        model,
        ...content,
      } as StoredGuide // as it was judged when it was written
    },

    /** Takes the place of the one before. */
    async keep(
      { queries, nowMs }: Change,
      tenantId: string,
      guide: Omit<StoredGuide, 'created_at'>,
    ): Promise<StoredGuide> {
      const { guide_id: guideId, framework, model, ...content } = guide
      const row = { guideId, tenantId, framework, model, content, createdAt: nowMs }
      await insertGuide(queries, row, LIMITS.guidesKeptPerTenantMax)
      return { ...guide, created_at: new Date(nowMs).toISOString() }
    },
  }
}
