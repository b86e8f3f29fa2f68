import { sql } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../sqlite.ts'

/** Counters live in rows, not in AUTOINCREMENT, so that they roll back with their change. */
export async function nextOf(queries: Queries, name: string): Promise<number> {
  const [row] = await queries
    .insert(schema.counters)
    .values({ name, value: 1 })
    .onConflictDoUpdate({
      target: schema.counters.name,
      set: { value: sql`${schema.counters.value} + 1` },
    })
    .returning({ value: schema.counters.value })
  if (row === undefined) throw new Error(`counter ${name} did not answer`)
  return row.value
}
