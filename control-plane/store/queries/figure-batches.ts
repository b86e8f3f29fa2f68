/** Which batch of counts was the last that was taken from each gateway. */
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteBefore, findBy, upsertInto } from '../statements.ts'

const table = schema.figureBatches

const findFigureBatch = findBy(table, 'gatewayId')
const putFigureBatch = upsertInto(table, ['gatewayId'], 'run', 'batch', 'takenAt')

/** False: it has been taken before. */
export async function takeFigureBatch(queries: Queries, taken: typeof table.$inferSelect) {
  const last = await findFigureBatch(queries, taken.gatewayId)
  if (last?.run === taken.run && last.batch >= taken.batch) return false
  await putFigureBatch(queries, taken)
  return true
}

export const deleteFigureBatchesBefore = deleteBefore(table.takenAt)
