import { inArray, type SQL, type SQLiteColumn } from './drizzle.ts'
import type { Queries } from './sqlite.ts'

/**
 * So many of those that are meant, found by their key, so that a change never holds the writer for
 * long; answers how many there were.
 */
export async function deleteSome(
  queries: Queries,
  key: SQLiteColumn,
  areMeant: SQL | undefined,
  limit: number,
  ...order: SQL[]
): Promise<number> {
  const some = await queries
    .select({ key })
    .from(key.table)
    .where(areMeant)
    .orderBy(...order)
    .limit(limit)
  const keys = some.map((row) => row.key)
  if (keys.length > 0) await queries.delete(key.table).where(inArray(key, keys))
  return keys.length
}
