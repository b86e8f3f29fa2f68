/**
 * Token buckets in the database, for what must not be had once more from each control plane: taken
 * in the change that they guard, so that one that comes to nothing has taken nothing. Of a bucket is
 * kept when it is full again, and nothing once it is. What only protects one process from a flood is
 * counted in its memory (`shared/rate-limits.ts`).
 */
import { SECOND_MS } from '../../../shared/clock.ts'
import type { Rate } from '../../../shared/rate-limits.ts'
import { lte, sql } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteBefore, findBy, preparedBy } from '../statements.ts'

const { rates } = schema

interface Bucket {
  readonly kind: string
  readonly key: string
  readonly rate: Rate
}

const msOf = (tokens: number, { perSecond }: Rate) => Math.round((tokens * SECOND_MS) / perSecond)

/** undefined: taken. Else there is not so much, and will be after so many seconds. */
export async function takeRate(
  { queries, nowMs }: { readonly queries: Queries; readonly nowMs: number },
  bucket: Bucket,
  cost = 1,
): Promise<number | undefined> {
  const { kind, key, rate } = bucket
  const costMs = msOf(cost, rate)
  const latestMs = latestOf(rate, cost, nowMs)
  if (latestMs >= nowMs) {
    const taken = await take(queries, {
      kind,
      key,
      nowMs,
      costMs,
      fullAt: nowMs + costMs,
      latestMs,
    })
    if (taken.length > 0) return undefined
  }
  return (await waitOfRate(queries, bucket, nowMs, cost)) ?? 1
}

const [now, costs] = [sql.placeholder('nowMs'), sql.placeholder('costMs')]
const owedFrom = sql`CASE WHEN ${rates.fullAt} > ${now} THEN ${rates.fullAt} ELSE ${now} END`
const take = preparedBy<unknown[]>((queries) =>
  queries
    .insert(rates)
    .values({
      kind: sql.placeholder('kind'),
      key: sql.placeholder('key'),
      fullAt: sql.placeholder('fullAt'),
    })
    .onConflictDoUpdate({
      target: [rates.kind, rates.key],
      set: { fullAt: sql`${owedFrom} + ${costs}` },
      setWhere: lte(rates.fullAt, sql.placeholder('latestMs')),
    })
    .returning({ one: sql`1` }),
)

/** One of each of them, or none of any. */
export async function takeEachRate(
  change: { readonly queries: Queries; readonly nowMs: number },
  buckets: readonly Bucket[],
): Promise<boolean> {
  const { queries, nowMs } = change
  for (const bucket of buckets)
    if ((await waitOfRate(queries, bucket, nowMs)) !== undefined) return false
  for (const bucket of buckets) await takeRate(change, bucket)
  return true
}

/** The same, and nothing is taken. */
export async function waitOfRate(
  queries: Queries,
  bucket: Bucket,
  nowMs: number,
  cost = 1,
): Promise<number | undefined> {
  const latestMs = latestOf(bucket.rate, cost, nowMs)
  const waitMs = (await fullAtOf(queries, bucket, nowMs)) - latestMs
  return waitMs > 0 ? Math.ceil(waitMs / SECOND_MS) : undefined
}

/** What is full again later than that has not so much now. */
const latestOf = (rate: Rate, cost: number, nowMs: number) =>
  nowMs + msOf(rate.burst, rate) - msOf(cost, rate)

/** How often there is something to take for now. */
export async function leftOfRate(queries: Queries, bucket: Bucket, nowMs: number): Promise<number> {
  const { rate } = bucket
  const owedMs = (await fullAtOf(queries, bucket, nowMs)) - nowMs
  return Math.max(0, Math.floor(rate.burst - (owedMs * rate.perSecond) / SECOND_MS + ROUNDING))
}

/** Far less than anything that is taken. */
const ROUNDING = 1e-6

const find = findBy(rates, 'kind', 'key')

async function fullAtOf(queries: Queries, { kind, key }: Bucket, nowMs: number): Promise<number> {
  const row = await find(queries, kind, key)
  return Math.max(nowMs, row?.fullAt ?? nowMs)
}

export const deleteFullRates = deleteBefore(rates.fullAt)
