import { and, desc, eq, lt, lte, max, notInArray } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteBefore, insertRows } from '../statements.ts'

const table = schema.enforcementEvents
export type EnforcementEventRow = typeof table.$inferSelect
export type NewEnforcementEvent = Omit<EnforcementEventRow, 'tenantId' | 'sequence'>

/** Counting is a walk over all that the tenant has, so it is done once for so many new ones. */
const ROWS_PER_COUNT = 1000

interface EventQuotas {
  /** Anybody can cause them, so they make room among themselves, and the others do. */
  readonly sealed: number
  readonly refused: number
  readonly others: number
}

/** The oldest of its kind make room once the tenant has more than its quota, and a few. */
export async function addEnforcementEvents(
  queries: Queries,
  tenantId: string,
  events: readonly NewEnforcementEvent[],
  quotas: EventQuotas,
): Promise<void> {
  const isOwn = eq(table.tenantId, tenantId)
  const [newest] = await queries
    .select({ sequence: max(table.sequence) })
    .from(table)
    .where(isOwn)
  const before = newest?.sequence ?? 0
  let sequence = before
  const rows = events.map((event) => ({ ...event, tenantId, sequence: ++sequence }))
  await insertRows(queries, table, rows)
  if (Math.floor(before / ROWS_PER_COUNT) === Math.floor(sequence / ROWS_PER_COUNT)) return
  const kinds = [
    { isOfKind: eq(table.outcome, 'sealed'), most: quotas.sealed },
    { isOfKind: eq(table.outcome, 'refused'), most: quotas.refused },
    { isOfKind: notInArray(table.outcome, ['sealed', 'refused']), most: quotas.others },
  ]
  for (const { isOfKind, most } of kinds) {
    const isOfBoth = and(isOwn, isOfKind)
    const [first] = await queries
      .select({ sequence: table.sequence })
      .from(table)
      .where(isOfBoth)
      .orderBy(desc(table.sequence))
      .limit(1)
      .offset(most)
    if (first !== undefined)
      await queries.delete(table).where(and(isOfBoth, lte(table.sequence, first.sequence)))
  }
}

export interface EventFilter {
  readonly outcome?: string | undefined
  readonly subject?: string | undefined
  readonly ip?: string | undefined
}

/** Newest first; each part of the filter has an index, so what does not match costs little. */
export async function enforcementEventsBefore(
  queries: Queries,
  tenantId: string,
  { outcome, subject, ip }: EventFilter,
  before: number | undefined,
  limit: number,
): Promise<EnforcementEventRow[]> {
  return await queries
    .select()
    .from(table)
    .where(
      and(
        eq(table.tenantId, tenantId),
        outcome === undefined ? undefined : eq(table.outcome, outcome),
        subject === undefined ? undefined : eq(table.subject, subject),
        ip === undefined ? undefined : eq(table.ip, ip),
        before === undefined ? undefined : lt(table.sequence, before),
      ),
    )
    .orderBy(desc(table.sequence))
    .limit(limit)
}

export const deleteEnforcementEventsBefore = deleteBefore(table.at)

export interface TriedPath {
  /** null: what was only counted. */
  readonly path: string | null
  readonly count: number
  /** How many there were. */
  readonly addresses: number
  readonly ip: string | null
  readonly at: number
}

const TRIED = { path: table.path, ip: table.ip, at: table.at, count: table.count }
type TriedRow = Pick<EnforcementEventRow, 'path' | 'ip' | 'at' | 'count'>

/** Of the newest so many, along the index; those that were asked for most first. */
export async function sealedPathsOf(queries: Queries, tenantId: string, most: number) {
  const rows = await queries
    .select(TRIED)
    .from(table)
    .where(and(eq(table.tenantId, tenantId), eq(table.outcome, 'sealed')))
    .orderBy(desc(table.sequence))
    .limit(most)
  return { rows: rows.length, tried: triedIn(rows) }
}

/** Paths that access rules have refused since then, of the newest so many reports of refusals. */
export async function ruledPathsSince(
  queries: Queries,
  tenantId: string,
  sinceMs: number,
  most: number,
): Promise<readonly TriedPath[]> {
  const rows = await queries
    .select({ ...TRIED, reason: table.reason })
    .from(table)
    .where(and(eq(table.tenantId, tenantId), eq(table.outcome, 'refused')))
    .orderBy(desc(table.sequence))
    .limit(most)
  return triedIn(rows.filter(({ reason, at }) => reason === 'rule_denied' && at >= sinceMs))
}

function triedIn(rows: readonly TriedRow[]): TriedPath[] {
  const tried = [...Map.groupBy(rows, ({ path }) => path)].map(([path, alike]): TriedPath => {
    const ips = new Set(alike.flatMap(({ ip }) => (ip === null ? [] : [ip])))
    return {
      path,
      count: alike.reduce((sum, { count }) => sum + count, 0),
      addresses: ips.size,
      ip: alike[0]?.ip ?? null,
      at: alike.reduce((newest, { at }) => Math.max(newest, at), 0),
    }
  })
  return tried.sort((a, b) => b.count - a.count || b.at - a.at)
}
