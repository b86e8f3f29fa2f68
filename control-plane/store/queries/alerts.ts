import { and, asc, count, eq, gt } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../sqlite.ts'

const table = schema.alerts
export type AlertRow = typeof table.$inferSelect
type AlertChanges = Partial<Omit<AlertRow, 'alertId' | 'tenantId' | 'createdAt'>>

/** What is known about the time in which alerts have been looked at. */
export interface Watch {
  readonly judgedAt: number
  /** What was counted before is not looked at: the clock was ahead then. */
  readonly countedFrom: number
  /** Since when nothing was missed. */
  readonly watchedFrom: number
}

const isIt = (tenantId: string, alertId: string) =>
  and(eq(table.tenantId, tenantId), eq(table.alertId, alertId))

export async function findAlert(queries: Queries, tenantId: string, alertId: string) {
  const [row] = await queries.select().from(table).where(isIt(tenantId, alertId))
  return row
}

export async function countAlerts(queries: Queries, tenantId: string): Promise<number> {
  const [row] = await queries
    .select({ alerts: count() })
    .from(table)
    .where(eq(table.tenantId, tenantId))
  return row?.alerts ?? 0
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

export async function insertAlert(queries: Queries, row: AlertRow): Promise<void> {
  await queries.insert(table).values(row)
}

export async function updateAlert(
  queries: Queries,
  { tenantId, alertId }: Pick<AlertRow, 'tenantId' | 'alertId'>,
  changes: AlertChanges,
): Promise<void> {
  await queries.update(table).set(changes).where(isIt(tenantId, alertId))
}

/** False: there was none. */
export async function deleteAlert(queries: Queries, tenantId: string, alertId: string) {
  const gone = await queries
    .delete(table)
    .where(isIt(tenantId, alertId))
    .returning({ alertId: table.alertId })
  return gone.length > 0
}

const WATCH = 'alert_watch'

/** Kept, so that a start does not take the time before it for watched. */
export async function findWatch(queries: Queries): Promise<Watch | undefined> {
  const [row] = await queries.select().from(schema.facts).where(eq(schema.facts.name, WATCH))
  return row && (JSON.parse(row.value) as Watch)
}

export async function putWatch(queries: Queries, watch: Watch): Promise<void> {
  const value = JSON.stringify(watch)
  await queries
    .insert(schema.facts)
    .values({ name: WATCH, value })
    .onConflictDoUpdate({ target: schema.facts.name, set: { value } })
}
