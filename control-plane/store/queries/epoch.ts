/**
 * The epoch is random, and new with every new database. Within it the revision only grows, so a
 * gateway of another epoch, or one that is ahead, has seen a database that is no more.
 */
import { randomUUID } from 'node:crypto'
import { eq, sql } from '../drizzle.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { schema } from '../schema.ts'
import type { Numbers, Queries } from '../engine.ts'

const { counters, facts } = schema
const isEpoch = eq(facts.name, 'epoch')

export async function findEpoch(queries: Queries): Promise<string | undefined> {
  const [row] = await queries.select({ value: facts.value }).from(facts).where(isEpoch)
  return row?.value
}

export async function ensureEpoch(queries: Queries): Promise<void> {
  await queries.insert(facts).values({ name: 'epoch', value: randomUUID() }).onConflictDoNothing()
}

/** What has been counted before may have been seen by somebody although it is not here. */
export async function beginEpoch(queries: Queries, numbers: Numbers): Promise<void> {
  await queries.update(facts).set({ value: randomUUID() }).where(isEpoch)
  await queries
    .update(counters)
    .set({ value: sql`${counters.value} + ${LIMITS.fleetEpochRevisions}` })
    .where(eq(counters.name, 'revision'))
  await numbers.skip(queries, LIMITS.fleetEpochRevisions)
}
