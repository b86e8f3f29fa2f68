import { and, asc, eq, gt } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteBy, findBy, insertInto, updateBy, upsertInto } from '../statements.ts'

const table = schema.alerts
export type AlertRow = typeof table.$inferSelect

/** What is known about the time in which alerts have been looked at. */
export interface Watch {
  readonly judgedAt: number
  /** What was counted before is not looked at: the clock was ahead then. */
  readonly countedFrom: number
  /** Since when nothing was missed. */
  readonly watchedFrom: number
}

export const findAlert = findBy(table, 'tenantId', 'alertId')

export async function countAlerts(queries: Queries, tenantId: string) {
  return await queries.$count(table, eq(table.tenantId, tenantId))
}

/** Of one tenant, in the order of their ids. */
export async function alertsAfter(
  queries: Queries,
  tenantId: string,
  after: string,
  limit: number,
): Promise<AlertRow[]> {
  return await queries
    .select()
    .from(table)
    .where(and(eq(table.tenantId, tenantId), gt(table.alertId, after)))
    .orderBy(asc(table.alertId))
    .limit(limit)
}

/** Of all tenants, in the order of their ids. */
export async function enabledAlertsAfter(queries: Queries, after: string, limit: number) {
  return await queries
    .select()
    .from(table)
    .where(and(gt(table.alertId, after), eq(table.isEnabled, true)))
    .orderBy(asc(table.alertId))
    .limit(limit)
}

export const insertAlert = insertInto(table)

export const updateAlert = updateBy(table, 'tenantId', 'alertId')

/** False: there was none. */
export const deleteAlert = deleteBy(table, 'tenantId', 'alertId')

const WATCH = 'alert_watch'
const findFact = findBy(schema.facts, 'name')
const putFact = upsertInto(schema.facts, ['name'], 'value')

/** Kept, so that a start does not take the time before it for watched. */
export async function findWatch(queries: Queries): Promise<Watch | undefined> {
  const row = await findFact(queries, WATCH)
  return row && (JSON.parse(row.value) as Watch)
}

export async function putWatch(queries: Queries, watch: Watch): Promise<void> {
  await putFact(queries, { name: WATCH, value: JSON.stringify(watch) })
}
