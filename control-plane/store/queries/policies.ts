import { schema } from '../schema.ts'
import { and, asc, eq, gt } from '../drizzle.ts'
import type { Queries } from '../engine.ts'
import { allBy, findBy, upsertInto } from '../statements.ts'

const table = schema.tenantPolicies

export const policiesOf = allBy(table, ['tenantId'])

export const findPolicy = findBy(table, 'tenantId', 'name')

export const upsertPolicy = upsertInto(
  table,
  ['tenantId', 'name'],
  'settings',
  'updatedAt',
  'demanded',
)

/** Where this one was decided, in the order of their ids. */
export async function tenantsWithPolicy(
  queries: Queries,
  name: (typeof table.$inferSelect)['name'],
  after: string,
  limit: number,
): Promise<string[]> {
  const rows = await queries
    .select({ tenantId: table.tenantId })
    .from(table)
    .where(and(eq(table.name, name), gt(table.tenantId, after)))
    .orderBy(asc(table.tenantId))
    .limit(limit)
  return rows.map(({ tenantId }) => tenantId)
}
