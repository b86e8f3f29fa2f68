/**
 * A tenant goes at once, for everybody, in one small change. What it has left behind follows in
 * slices that let others through, of whatever size it is; should that be cut off, the jobs go on with
 * it. Until nothing is left nobody else gets the id. Whoever writes for a tenant asks for it in the
 * same change; should anybody have written behind the last slice all the same, it is swept again later.
 */
import type { Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import {
  deleteSomeLeftBehind,
  deleteTenant,
  findLeftBehind,
} from '../store/queries/tenant-removal.ts'
import { findTenant } from '../store/queries/tenants.ts'
import type { Actor, Store } from '../store/store.ts'
import { found } from './alter.ts'

export function createRemoval({ store, clock }: { readonly store: Store; readonly clock: Clock }) {
  /** By tenant, when to look again: a process that ends takes along what was under way in it. */
  const againMs = new Map<string, number>()

  const sweepSome = (tenantId: string, most: number) =>
    store.change(({ queries }) => deleteSomeLeftBehind(queries, tenantId, most))

  async function sweep(tenantId: string): Promise<void> {
    while (!(await sweepSome(tenantId, LIMITS.rowsDeletedAtOnceMax)));
  }

  function nextAgain(): string | undefined {
    const [next] = againMs // the oldest of them
    if (next === undefined || next[1] > clock.steadyMs()) return undefined
    againMs.delete(next[0])
    return next[0]
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
      againMs.delete(tenantId) // behind all others
      againMs.set(tenantId, clock.steadyMs() + LIMITS.removedSweptAgainMs)
      // it is removed, whatever becomes of this: the jobs go on with it
      await sweep(tenantId).catch(() => undefined)
      return goneBy
    },

    /** For the jobs. As many as the limit: there may be more. */
    async sweepLeftBehind(limit: number): Promise<number> {
      const tenantId = (await findLeftBehind(store.read)) ?? nextAgain()
      if (tenantId === undefined) return 0
      await sweepSome(tenantId, limit)
      return limit
    },
  }
}
