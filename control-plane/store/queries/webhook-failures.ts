import { and, count, eq, gte, lt, sql } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'

const table = schema.webhookDeliveries

/** What was only a test is none. */
const isFailedWithin = (tenantId: string, fromMs: number, toMs: number) =>
  and(
    eq(table.tenantId, tenantId),
    eq(table.state, 'failed'),
    eq(table.isTest, false),
    gte(table.updatedAt, fromMs),
    lt(table.updatedAt, toMs),
  )

/** Deliveries that were given up from `fromMs` up to before `toMs`. */
export async function countFailedDeliveries(
  queries: Queries,
  tenantId: string,
  fromMs: number,
  toMs: number,
): Promise<number> {
  return await queries.$count(table, isFailedWithin(tenantId, fromMs, toMs))
}

/** The same minute by minute, without those in which there was none. */
export async function minutesOfFailedDeliveries(
  queries: Queries,
  tenantId: string,
  fromMs: number,
  toMs: number,
): Promise<{ at: number; count: number }[]> {
  const at = sql<number>`${table.updatedAt} - ${table.updatedAt} % 60000`
  return await queries
    .select({ at, count: count() })
    .from(table)
    .where(isFailedWithin(tenantId, fromMs, toMs))
    .groupBy(at)
    .orderBy(at)
}
