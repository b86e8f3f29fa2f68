/** Figures of all tenants together, and which of them are refused most. */
import { and, asc, desc, eq, gte, lt, sql } from '../drizzle.ts'
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
import { addTo, deleteSome, isOneOf } from '../statements.ts'

const { serviceFigures: table, figureAdditions: additions, tenantRefusals, tenants } = schema
type ServiceFigureRow = typeof table.$inferSelect

const addRows = addTo(table)
const addRefusals = addTo(tenantRefusals)
const addAdditions = addTo(additions)

const STEPS = [
  ['minute', MINUTE_MS],
  ['hour', HOUR_MS],
  ['day', DAY_MS],
] as const
const RANKED_STEPS = [STEPS[1], STEPS[2]] as const

const REFUSALS: ReadonlySet<string> = new Set(REFUSAL_OUTCOMES)

const stepsAt = <Step extends string>(
  steps: readonly (readonly [Step, number])[],
  atMs: number,
): { step: Step; at: number }[] => steps.map(([step, ms]) => ({ step, at: atMs - (atMs % ms) }))

/** In a change of one tenant, which waits for none of another: `takeAdditions` brings them together. */
export async function addForService(
  queries: Queries,
  source: FigureSource,
  atMs: number,
  tenantId: string,
  figures: readonly Figure[],
): Promise<void> {
  if (isReserved(tenantId)) return
  const at = atMs - (atMs % MINUTE_MS)
  await addAdditions(
    queries,
    figures.map((figure) => ({ ...figure, tenantId, at, source })),
  )
  await countRefusals(queries, atMs, [[tenantId, figures]])
}

/** The minute that has waited longest to be brought together with the others; undefined: none does. */
export async function oldestAddition(queries: Queries): Promise<number | undefined> {
  const [row] = await queries
    .select({ at: additions.at })
    .from(additions)
    .orderBy(asc(additions.at))
    .limit(1)
  return row?.at
}

/** In a change that is alone, of any number of tenants. */
export async function addServiceFigures(
  queries: Queries,
  source: FigureSource,
  atMs: number,
  byTenant: ReadonlyMap<string, readonly Figure[]>,
): Promise<void> {
  const own = [...byTenant].filter(([tenantId]) => !isReserved(tenantId))
  const at = atMs - (atMs % MINUTE_MS)
  await addSums(
    queries,
    own.flatMap(([, figures]) => figures.map((figure) => ({ ...figure, source, at }))),
  )
  await countRefusals(queries, atMs, own)
}

/** What changes of tenants have counted; answers how many rows there were, at most so many. */
export async function takeAdditions(queries: Queries, limit: number): Promise<number> {
  const rows = await queries
    .delete(additions)
    .where(isOneOf(queries, additions, undefined, limit, asc(additions.at)))
    .returning()
  await addSums(queries, rows)
  return rows.length
}

type Counted = Figure & { readonly source: FigureSource; readonly at: number }

/** Each row once: no statement adds to one twice. */
async function addSums(queries: Queries, counted: readonly Counted[]) {
  const sums = new Map<string, ServiceFigureRow>()
  for (const { source, at: atMs, outcome, reason, count } of counted)
    for (const { step, at } of stepsAt(STEPS, atMs)) {
      const key = [step, at, source, outcome, reason].join(' ')
      const sum = count + (sums.get(key)?.count ?? 0)
      sums.set(key, { step, at, source, outcome, reason, count: sum })
    }
  await addRows(queries, [...sums.values()])
}

async function countRefusals(
  queries: Queries,
  atMs: number,
  byTenant: readonly (readonly [tenantId: string, figures: readonly Figure[]])[],
) {
  const steps = stepsAt(RANKED_STEPS, atMs)
  const rows = byTenant.flatMap(([tenantId, figures]) => {
    const refused = figures.filter(({ outcome }) => REFUSALS.has(outcome))
    if (refused.length === 0) return []
    const count = refused.reduce((sum, figure) => sum + figure.count, 0)
    return steps.map((step) => ({ tenantId, ...step, count }))
  })
  await addRefusals(queries, rows)
}

/**
 * With what is not among those of all yet, by the minute. In one query: what is added together
 * meanwhile is neither missing nor there twice.
 */
export async function serviceFiguresWithin(
  queries: Queries,
  step: FigureStep,
  fromMs: number,
  toMs: number,
) {
  const { at, source, outcome, reason } = additions
  const added = queries
    .select({ at, source, outcome, reason, count: sql<number>`sum(${additions.count})` })
    .from(additions)
    .where(and(gte(at, fromMs), lt(at, toMs)))
    .groupBy(at, source, outcome, reason)
  const count = sql<number>`${table.count}`
  return await queries
    .select({
      at: table.at,
      source: table.source,
      outcome: table.outcome,
      reason: table.reason,
      count,
    })
    .from(table)
    .where(and(eq(table.step, step), gte(table.at, fromMs), lt(table.at, toMs)))
    .unionAll(added)
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
  limit: number,
): Promise<number> {
  return deleteSome(queries, table, and(eq(table.step, step), lt(table.at, beforeMs)), limit)
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
