/** Figures of all tenants together, and which of them are refused most. */
import { and, asc, desc, eq, gte, lt } from '../drizzle.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../shared/clock.ts'
import {
  REFUSAL_OUTCOMES,
  type Figure,
  type FigureSource,
  type FigureStep,
} from '../monitoring-names.ts'
import { isReserved } from '../reserved.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { addTo, deleteSome } from '../statements.ts'

const { serviceFigures: table, tenantRefusals, tenants } = schema
type ServiceFigureRow = typeof table.$inferSelect

const addRows = addTo(table)
const addRefusals = addTo(tenantRefusals)

const STEPS = [
  ['minute', MINUTE_MS],
  ['hour', HOUR_MS],
  ['day', DAY_MS],
] as const
const RANKED_STEPS = [STEPS[1], STEPS[2]] as const

const REFUSALS: ReadonlySet<string> = new Set(REFUSAL_OUTCOMES)

/** In the change that counts it for its tenant (queries/figures.ts). */
export async function addServiceFigures(
  queries: Queries,
  source: FigureSource,
  atMs: number,
  byTenant: ReadonlyMap<string, readonly Figure[]>,
): Promise<void> {
  const sums = new Map<string, Figure>()
  const refusals: { readonly tenantId: string; readonly count: number }[] = []
  for (const [tenantId, figures] of byTenant) {
    if (isReserved(tenantId)) continue
    let refused = 0
    for (const figure of figures) {
      const key = `${figure.outcome} ${figure.reason}`
      sums.set(key, { ...figure, count: figure.count + (sums.get(key)?.count ?? 0) })
      if (REFUSALS.has(figure.outcome)) refused += figure.count
    }
    if (refused > 0) refusals.push({ tenantId, count: refused })
  }
  const at = <Step extends string>(steps: readonly (readonly [Step, number])[]) =>
    steps.map(([step, ms]) => ({ step, at: atMs - (atMs % ms) }))
  const steps = at(STEPS)
  await addRows(
    queries,
    [...sums.values()].flatMap((figure) => steps.map((step) => ({ ...figure, ...step, source }))),
  )
  const ranked = at(RANKED_STEPS)
  await addRefusals(
    queries,
    refusals.flatMap((refusal) => ranked.map((step) => ({ ...refusal, ...step }))),
  )
}

/** In the order of time. */
export async function serviceFiguresWithin(
  queries: Queries,
  step: FigureStep,
  fromMs: number,
  toMs: number,
): Promise<ServiceFigureRow[]> {
  return await queries
    .select()
    .from(table)
    .where(and(eq(table.step, step), gte(table.at, fromMs), lt(table.at, toMs)))
    .orderBy(asc(table.at))
}

export interface RefusedTenant {
  readonly tenantId: string
  readonly name: string
  readonly count: number
}

/** Of the hour or day that begins then; those with the most first. */
export async function mostRefused(
  queries: Queries,
  step: 'hour' | 'day',
  atMs: number,
  limit: number,
): Promise<RefusedTenant[]> {
  const { tenantId, count } = tenantRefusals
  return await queries
    .select({ tenantId, name: tenants.name, count })
    .from(tenantRefusals)
    .innerJoin(tenants, eq(tenants.tenantId, tenantId))
    .where(and(eq(tenantRefusals.step, step), eq(tenantRefusals.at, atMs)))
    .orderBy(desc(count))
    .limit(limit)
}

export async function deleteServiceFiguresBefore(
  queries: Queries,
  step: FigureStep,
  beforeMs: number,
): Promise<void> {
  await queries.delete(table).where(and(eq(table.step, step), lt(table.at, beforeMs)))
}

/** Nobody looks further back than at the hour, or the day, before. */
export async function deleteRefusalsBefore(
  queries: Queries,
  step: 'hour' | 'day',
  beforeMs: number,
  limit: number,
): Promise<number> {
  const isBefore = and(eq(tenantRefusals.step, step), lt(tenantRefusals.at, beforeMs))
  return deleteSome(queries, tenantRefusals, isBefore, limit, asc(tenantRefusals.at))
}
