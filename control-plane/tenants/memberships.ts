/** Many memberships of one group and source at once: so many statements for a thousand as for a few. */
import { outdateClaimsOfEach } from '../sessions/revocations.ts'
import type { MembershipSource } from '../store/access-tables.ts'
import { deleteMembers, insertMembers, membersAmong } from '../store/queries/access.ts'
import { findTenant } from '../store/queries/tenants.ts'
import type { Queries } from '../store/engine.ts'
import type { Change } from '../store/store.ts'
import { isSpokenOf } from './access-rules.ts'
import { found } from './alter.ts'

interface OfGroup {
  readonly tenantId: string
  readonly group: string
  readonly source: MembershipSource
}

interface Wished {
  readonly add: readonly string[]
  readonly take: readonly string[]
}

/** What of it is to be done: who comes, who goes, and who is in the group by another source as well. */
export async function membershipsToAlter(
  queries: Queries,
  { tenantId, group, source }: OfGroup,
  { add, take }: Wished,
) {
  const rows = await membersAmong(queries, tenantId, group, [...add, ...take])
  const own = new Set(rows.filter((row) => row.source === source).map(({ userId }) => userId))
  const others = new Set(rows.filter((row) => row.source !== source).map(({ userId }) => userId))
  const added = add.filter((userId) => !own.has(userId))
  const taken = take.filter((userId) => own.has(userId))
  return { added, taken, others }
}

/** Whose memberships of this source have changed. Who is in it by another source stays in it. */
export async function alterMembershipsIn(
  change: Change,
  { tenantId, group, source }: OfGroup,
  wished: Wished,
): Promise<{ readonly added: readonly string[]; readonly taken: readonly string[] }> {
  const { queries, nowMs } = change
  const named = { tenantId, group, source }
  const { added, taken, others } = await membershipsToAlter(queries, named, wished)
  await insertMembers(
    queries,
    added.map((userId) => ({ ...named, userId, createdAt: nowMs })),
  )
  await deleteMembers(queries, named, taken, nowMs)
  const outdated = [...added, ...taken].filter((userId) => !others.has(userId))
  if (outdated.length > 0 && (await isSpokenOf(queries, tenantId, group))) {
    const { maxSessionSeconds } = found(await findTenant(queries, tenantId))
    await outdateClaimsOfEach(change, tenantId, outdated, maxSessionSeconds)
  }
  return { added, taken }
}
