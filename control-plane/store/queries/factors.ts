/** Second factors. Whatever may be used once is taken by one update, which one asker wins. */
import { and, asc, eq, inArray, isNull, lt, ne } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { allBy, updateBy } from '../statements.ts'

const table = schema.factors
export type FactorRow = typeof table.$inferSelect

const isOf = (tenantId: string, userId: string) =>
  and(eq(table.tenantId, tenantId), eq(table.userId, userId))

export const factorsOf = allBy(
  table,
  ['tenantId', 'userId'],
  asc(table.createdAt),
  asc(table.factorId),
)

export async function insertFactors(queries: Queries, rows: FactorRow[]): Promise<void> {
  if (rows.length > 0) await queries.insert(table).values(rows)
}

/** A later step than any before: of all who show the same one, one is taken at its word. */
export async function takeStep(queries: Queries, factorId: string, step: number, nowMs: number) {
  const taken = await queries
    .update(table)
    .set({ lastStep: step, lastUsedAt: nowMs })
    .where(and(eq(table.factorId, factorId), lt(table.lastStep, step)))
    .returning({ factorId: table.factorId })
  return taken.length > 0
}

/** For passkeys that do not count (both counters are 0). */
export const updateFactor = updateBy(table, 'factorId')

export async function takeRecoveryCode(
  queries: Queries,
  tenantId: string,
  userId: string,
  lookupHash: string,
  nowMs: number,
): Promise<boolean> {
  const taken = await queries
    .update(table)
    .set({ lastUsedAt: nowMs })
    .where(
      and(
        isOf(tenantId, userId),
        eq(table.kind, 'recovery'),
        eq(table.lookupHash, lookupHash),
        isNull(table.lastUsedAt),
      ),
    )
    .returning({ factorId: table.factorId })
  return taken.length > 0
}

export async function deleteFactors(
  queries: Queries,
  tenantId: string,
  userId: string,
  kinds: readonly FactorRow['kind'][],
): Promise<void> {
  await queries.delete(table).where(and(isOf(tenantId, userId), inArray(table.kind, [...kinds])))
}

export async function deleteFactor(
  queries: Queries,
  tenantId: string,
  userId: string,
  factorId: string,
) {
  const [row] = await queries
    .delete(table)
    .where(and(isOf(tenantId, userId), eq(table.factorId, factorId)))
    .returning()
  return row
}

/** Who of them has one; recovery codes alone are none. */
export async function withFactors(
  queries: Queries,
  tenantId: string,
  userIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (userIds.length === 0) return new Set()
  const rows = await queries
    .selectDistinct({ userId: table.userId })
    .from(table)
    .where(
      and(
        eq(table.tenantId, tenantId),
        inArray(table.userId, [...userIds]),
        ne(table.kind, 'recovery'),
      ),
    )
  return new Set(rows.map(({ userId }) => userId))
}
