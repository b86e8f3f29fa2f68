/** Which batch of counts was the last that was taken from each gateway. */
import { eq, lt } from '../drizzle.ts'
import { schema } from '../schema.ts'
import { deleteSome } from '../delete-some.ts'
import type { Queries } from '../sqlite.ts'

const table = schema.figureBatches

/** False: it has been taken before. */
export async function takeFigureBatch(queries: Queries, taken: typeof table.$inferSelect) {
  const { gatewayId, run, batch, takenAt } = taken
  const [last] = await queries.select().from(table).where(eq(table.gatewayId, gatewayId))
  if (last?.run === run && last.batch >= batch) return false
  await queries
    .insert(table)
    .values(taken)
    .onConflictDoUpdate({ target: table.gatewayId, set: { run, batch, takenAt } })
  return true
}

export async function deleteFigureBatchesBefore(queries: Queries, beforeMs: number, limit: number) {
  return deleteSome(queries, table.gatewayId, lt(table.takenAt, beforeMs), limit)
}
