/** Figures: added to their minute and hour at once, read as sums, rolled up by the hour. */
import { setImmediate as breathe } from 'node:timers/promises'
import { and, asc, eq, gte, inArray, lt, sql, sum } from '../drizzle.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../shared/clock.ts'
import type { Figure, FigureOutcome, FigureSource, KeptStep } from '../monitoring-names.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { addTo, deleteSome, isOneOf } from '../statements.ts'
import { addForService, addServiceFigures } from './service-figures.ts'

const table = schema.figures
export type FigureRow = typeof table.$inferSelect
export type FigureSum = Pick<FigureRow, 'source' | 'outcome' | 'reason' | 'count'>

export const STEP_MS: Readonly<Record<KeptStep, number>> = {
  minute: MINUTE_MS,
  quarter: 15 * MINUTE_MS,
  hour: HOUR_MS,
  day: DAY_MS,
}

export const beginOf = (step: KeptStep, atMs: number) => atMs - (atMs % STEP_MS[step])

/** Of any number of tenants in few statements: a gateway tells thousands at once. In a change alone. */
export async function addFigures(
  queries: Queries,
  source: FigureSource,
  atMs: number,
  byTenant: ReadonlyMap<string, readonly Figure[]>,
): Promise<void> {
  await addForTenants(queries, source, atMs, [...byTenant])
  await addServiceFigures(queries, source, atMs, byTenant)
}

/** In a change of that tenant. */
export async function addFiguresOf(
  queries: Queries,
  source: FigureSource,
  atMs: number,
  tenantId: string,
  figures: readonly Figure[],
): Promise<void> {
  await addForTenants(queries, source, atMs, [[tenantId, figures]])
  await addForService(queries, source, atMs, tenantId, figures)
}

async function addForTenants(
  queries: Queries,
  source: FigureSource,
  atMs: number,
  byTenant: readonly (readonly [tenantId: string, figures: readonly Figure[]])[],
) {
  const steps = (['minute', 'hour'] as const).map((step) => ({ step, at: beginOf(step, atMs) }))
  const rows = byTenant.flatMap(([tenantId, figures]) =>
    figures.flatMap((figure) => steps.map((step) => ({ ...figure, tenantId, source, ...step }))),
  )
  await addRows(queries, rows)
}

const addRows = addTo(table)

const isWithin = (tenantId: string, step: KeptStep, fromMs: number, toMs: number) =>
  and(eq(table.tenantId, tenantId), eq(table.step, step), gte(table.at, fromMs), lt(table.at, toMs))

/** More than there are of one tenant and one time: 3 sources, 13 outcomes, 72 reasons. */
const ROWS_TOGETHER = 3000

/** In the order of time; of very many, some, and then others have their turn. */
export async function* figuresWithin(
  queries: Queries,
  tenantId: string,
  step: KeptStep,
  fromMs: number,
  toMs: number,
): AsyncGenerator<readonly FigureRow[], void> {
  for (let from = fromMs; ;) {
    const rows: FigureRow[] = await queries
      .select()
      .from(table)
      .where(isWithin(tenantId, step, from, toMs))
      .orderBy(asc(table.at))
      .limit(ROWS_TOGETHER)
    const lastAt = rows.at(-1)?.at
    if (rows.length < ROWS_TOGETHER || lastAt === undefined) {
      yield rows
      return
    }
    yield rows.filter(({ at }) => at < lastAt) // of the last there may be more
    from = lastAt
    await breathe()
  }
}

export async function figureSums(
  queries: Queries,
  tenantId: string,
  step: KeptStep,
  fromMs: number,
  toMs: number,
): Promise<FigureSum[]> {
  const { source, outcome, reason } = table
  return await queries
    .select({ source, outcome, reason, count: sql<number>`sum(${table.count})` })
    .from(table)
    .where(isWithin(tenantId, step, fromMs, toMs))
    .groupBy(source, outcome, reason)
}

interface WantedFigures {
  readonly outcomes: readonly FigureOutcome[]
  /** Of which only those with this reason. */
  readonly reason?: string | undefined
}

const isOf = ({ outcomes, reason }: WantedFigures) =>
  and(
    inArray(table.outcome, [...outcomes]),
    reason === undefined ? undefined : eq(table.reason, reason),
  )

/** The minutes in which these outcomes were counted, and how often, in the order of time. */
export async function minutesOfOutcomes(
  queries: Queries,
  tenantId: string,
  wanted: WantedFigures,
  fromMs: number,
  toMs: number,
): Promise<{ at: number; count: number }[]> {
  return await queries
    .select({ at: table.at, count: sql<number>`sum(${table.count})` })
    .from(table)
    .where(and(isWithin(tenantId, 'minute', fromMs, toMs), isOf(wanted)))
    .groupBy(table.at)
    .orderBy(asc(table.at))
}

/** How often they were counted in the minutes from `fromMs` up to before `toMs`. */
export async function countOutcomes(
  queries: Queries,
  tenantId: string,
  wanted: WantedFigures,
  fromMs: number,
  toMs: number,
): Promise<number> {
  const [row] = await queries
    .select({ count: sum(table.count) })
    .from(table)
    .where(and(isWithin(tenantId, 'minute', fromMs, toMs), isOf(wanted)))
  return Number(row?.count ?? 0)
}

const isBefore = (step: KeptStep, beforeMs: number) =>
  and(eq(table.step, step), lt(table.at, beforeMs))

export async function deleteFiguresBefore(
  queries: Queries,
  step: KeptStep,
  beforeMs: number,
  limit: number,
): Promise<number> {
  return deleteSome(queries, table, isBefore(step, beforeMs), limit, asc(table.at))
}

/** Minutes that lie ahead were written under a clock that was wrong. */
export async function deleteMinutesFrom(queries: Queries, fromMs: number): Promise<void> {
  await queries.delete(table).where(and(eq(table.step, 'minute'), gte(table.at, fromMs)))
}

/** Steps that begin before become part of longer ones, or, where nobody wants those, are gone. */
export async function rollUp(
  queries: Queries,
  [from, to]: readonly [KeptStep, KeptStep],
  beforeMs: number,
  limit: number,
  isWanted: (atMs: number) => boolean = () => true,
): Promise<number> {
  const rows = await queries
    .delete(table)
    .where(isOneOf(queries, table, isBefore(from, beforeMs), limit, asc(table.at)))
    .returning()
  const longer = new Map<string, FigureRow>()
  for (const row of rows.filter(({ at }) => isWanted(at))) {
    const at = beginOf(to, row.at)
    const key = [row.tenantId, at, row.source, row.outcome, row.reason].join(' ')
    const count = (longer.get(key)?.count ?? 0) + row.count
    longer.set(key, { ...row, step: to, at, count })
  }
  await addRows(queries, [...longer.values()])
  return rows.length
}
