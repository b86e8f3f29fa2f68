/**
 * A tenant goes at once, for everybody, in one small change. What it has left behind follows in
 * slices that let others through, of whatever size it is; should that be cut off, the jobs go on with
 * it. Until nothing is left nobody else gets the id.
 */
import { LIMITS } from '../../shared/limits.ts'
import {
  deleteSomeLeftBehind,
  deleteTenant,
  findLeftBehind,
  isLeftBehind,
} from '../store/queries/tenant-removal.ts'
import { findTenant } from '../store/queries/tenants.ts'
import type { Actor, Store } from '../store/store.ts'
import { found } from './alter.ts'

export function createRemoval({ store }: { readonly store: Store }) {
  const sweepSome = (tenantId: string, most: number) =>
    store.change(({ queries }) => deleteSomeLeftBehind(queries, tenantId, most))

  async function sweep(tenantId: string): Promise<void> {
    while (await isLeftBehind(store.read, tenantId))
      await sweepSome(tenantId, LIMITS.rowsDeletedAtOnceMax)
  }

  return {
    sweep,

    /** Answers the revision by which gateways know that it is gone. */
    async remove(tenantId: string, actor: Actor): Promise<number> {
      const goneBy = await store.change(async (change) => {
        found(await findTenant(change.queries, tenantId))
        const revision = await change.touch(tenantId)
        await change.audit(actor, { action: 'tenant.removed', tenantId })
        await deleteTenant(change.queries, tenantId, revision)
        return revision
      })
      // it is removed, whatever becomes of this: the jobs go on with it
      await sweep(tenantId).catch(() => undefined)
      return goneBy
    },

    /** For the jobs. As many as the limit: there may be more. */
    async sweepLeftBehind(limit: number): Promise<number> {
      const tenantId = await findLeftBehind(store.read)
      if (tenantId === undefined) return 0
      await sweepSome(tenantId, limit)
      return limit
    },
  }
}
