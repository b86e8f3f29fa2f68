import { and, asc, desc, eq, gt, inArray } from '../drizzle.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { allBy, deleteBy, findBy, upsertInto } from '../statements.ts'

export type CheckRow = typeof schema.verificationChecks.$inferSelect

const table = schema.verificationChecks

export const checksOf = allBy(table, ['tenantId'], asc(table.at), asc(table.check))

export const upsertChecks = upsertInto(
  table,
  ['tenantId', 'check', 'source'],
  'status',
  'detail',
  'nextAction',
  'at',
)

export type SignInTrial = typeof schema.signInTrials.$inferSelect

export const findTrial = findBy(schema.signInTrials, 'tenantId')
export const putTrial = upsertInto(schema.signInTrials, ['tenantId'], 'at', 'revision', 'checks')

/** What the platform itself has confirmed, and not too long ago. A self-report counts nothing. */
export async function freshPasses(queries: Queries, tenantId: string, nowMs: number) {
  const rows = await queries
    .select({ check: table.check })
    .from(table)
    .where(
      and(
        eq(table.tenantId, tenantId),
        eq(table.source, 'platform'),
        eq(table.status, 'pass'),
        gt(table.at, nowMs - LIMITS.verificationValidMs),
      ),
    )
  return new Set(rows.map((row) => row.check))
}

const deleteChecksOf = deleteBy(table, 'tenantId', 'source')

export async function forgetPlatformChecks(queries: Queries, tenantId: string): Promise<void> {
  await deleteChecksOf(queries, tenantId, 'platform')
}

/** Of another application, perhaps. */
export async function forgetSelfReports(queries: Queries, tenantId: string): Promise<void> {
  await deleteChecksOf(queries, tenantId, 'self_report')
}

/** Keeps the newest ones; the names of checks are free, so their number is not. */
export async function trimSelfReports(queries: Queries, tenantId: string, most: number) {
  const isSelfReport = and(eq(table.tenantId, tenantId), eq(table.source, 'self_report'))
  const rows = await queries
    .select({ check: table.check })
    .from(table)
    .where(isSelfReport)
    .orderBy(desc(table.at), asc(table.check))
  const surplus = rows.slice(most).map(({ check }) => check)
  if (surplus.length === 0) return
  await queries.delete(table).where(and(isSelfReport, inArray(table.check, surplus)))
}
