import { and, desc, eq, lte } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { firstBy } from '../statements.ts'

const { guides: table } = schema
type GuideRow = typeof table.$inferSelect

const newestGuides = firstBy(table, ['tenantId'], desc(table.number))

export async function newestGuide(queries: Queries, tenantId: string) {
  return (await newestGuides(queries, tenantId, 1))[0]
}

/** The tenant's newest from now on; of those before it, so many are kept. */
export async function insertGuide(
  queries: Queries,
  guide: Omit<GuideRow, 'number'>,
  keptMax: number,
): Promise<void> {
  const number = ((await newestGuide(queries, guide.tenantId))?.number ?? 0) + 1
  await queries.insert(table).values({ ...guide, number })
  const isOld = lte(table.number, number - keptMax)
  await queries.delete(table).where(and(eq(table.tenantId, guide.tenantId), isOld))
}
