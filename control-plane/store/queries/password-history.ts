import { randomUUID } from 'node:crypto'
import { and, desc, eq, inArray } from '../drizzle.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteBy } from '../statements.ts'

const table = schema.passwordHistory
const isOf = (tenantId: string, userId: string) =>
  and(eq(table.tenantId, tenantId), eq(table.userId, userId))

/** The hashes of a person's earlier passwords, newest first. */
export async function passwordsBefore(
  queries: Queries,
  tenantId: string,
  userId: string,
  limit: number,
): Promise<string[]> {
  if (limit < 1) return []
  const rows = await queries
    .select({ passwordHash: table.passwordHash })
    .from(table)
    .where(isOf(tenantId, userId))
    .orderBy(desc(table.replacedAt), desc(table.entryId))
    .limit(limit)
  return rows.map((row) => row.passwordHash)
}

/** As many are kept as a policy may ever ask about. */
export async function rememberPassword(
  queries: Queries,
  entry: { tenantId: string; userId: string; passwordHash: string; replacedAt: number },
): Promise<void> {
  await queries.insert(table).values({ entryId: randomUUID(), ...entry })
  const surplus = await queries
    .select({ entryId: table.entryId })
    .from(table)
    .where(isOf(entry.tenantId, entry.userId))
    .orderBy(desc(table.replacedAt), desc(table.entryId))
    .limit(1000)
    .offset(LIMITS.passwordHistoryMax)
  const entryIds = surplus.map((row) => row.entryId)
  if (entryIds.length > 0) await queries.delete(table).where(inArray(table.entryId, entryIds))
}

export const forgetPasswords = deleteBy(table, 'tenantId', 'userId')
