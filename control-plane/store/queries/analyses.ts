/** How often models were asked, and what it cost. */
import { and, asc, count, eq, gt, gte, sum } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteBefore, insertInto, updateBy } from '../statements.ts'

const { analyses: table } = schema

/** When the analyses of a tenant began, oldest first. */
export async function analysesSince(queries: Queries, tenantId: string, afterMs: number) {
  const rows = await queries
    .select({ at: table.startedAt })
    .from(table)
    .where(and(eq(table.tenantId, tenantId), gt(table.startedAt, afterMs)))
    .orderBy(asc(table.startedAt))
  return rows.map(({ at }) => at)
}

/** Of one tenant, or of all. */
export async function tokensSince(queries: Queries, fromMs: number, tenantId?: string) {
  const ofTenant = tenantId === undefined ? undefined : eq(table.tenantId, tenantId)
  const [row] = await queries
    .select({ tokens: sum(table.tokens) })
    .from(table)
    .where(and(gte(table.startedAt, fromMs), ofTenant))
  return Number(row?.tokens ?? 0)
}

export async function outcomesSince(queries: Queries, fromMs: number) {
  return queries
    .select({ outcome: table.outcome, count: count() })
    .from(table)
    .where(gte(table.startedAt, fromMs))
    .groupBy(table.outcome)
}

export const insertAnalysis = insertInto(table)

export const updateAnalysis = updateBy(table, 'analysisId')

export const deleteAnalysesBefore = deleteBefore(table.startedAt)
