import { sql } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { preparedBy } from '../statements.ts'

const { counters } = schema
const by = sql.placeholder('by')
const add = preparedBy((queries) =>
  queries
    .insert(counters)
    .values({ name: sql.placeholder('name'), value: by })
    .onConflictDoUpdate({ target: counters.name, set: { value: sql`${counters.value} + ${by}` } })
    .returning({ value: counters.value }),
)

/**
 * Counters live in rows, not in AUTOINCREMENT, so that they roll back with their change. Answers the
 * last of so many numbers that are the asker's.
 */
export async function nextOf(queries: Queries, name: string, by = 1): Promise<number> {
  const [row] = await add(queries, { name, by })
  if (row === undefined) throw new Error(`counter ${name} did not answer`)
  return row.value
}
