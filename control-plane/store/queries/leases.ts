import { eq, gt, lte, sql } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteBy, findBy } from '../statements.ts'

const { leases } = schema

export const findLease = findBy(leases, 'name')

/**
 * One whose time is over is anybody's, and whoever has it may have it for longer. So is one that lasts
 * much longer than any: it was taken by a clock that was ahead.
 */
export async function takeLease(
  { queries, nowMs }: { readonly queries: Queries; readonly nowMs: number },
  name: string,
  owner: string,
  forMs: number,
): Promise<boolean> {
  const untilAt = nowMs + forMs
  const taken = await queries
    .insert(leases)
    .values({ name, owner, untilAt })
    .onConflictDoUpdate({
      target: leases.name,
      set: { owner, untilAt },
      setWhere: sql`${eq(leases.owner, owner)} OR ${lte(leases.untilAt, nowMs)}
        OR ${gt(leases.untilAt, untilAt + forMs)}`,
    })
    .returning({ name: leases.name })
  return taken.length > 0
}

export const releaseLeases = deleteBy(leases, 'owner')
