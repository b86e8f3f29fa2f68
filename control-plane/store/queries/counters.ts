import { sql } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'

/**
 * Counters live in rows, not in AUTOINCREMENT, so that they roll back with their change. Answers the
 * last of so many numbers that are the asker's.
 */
export async function nextOf(queries: Queries, name: string, by = 1): Promise<number> {
  const [row] = await queries
    .insert(schema.counters)
    .values({ name, value: by })
    .onConflictDoUpdate({
      target: schema.counters.name,
      set: { value: sql`${schema.counters.value} + ${by}` },
    })
    .returning({ value: schema.counters.value })
  if (row === undefined) throw new Error(`counter ${name} did not answer`)
  return row.value
}
