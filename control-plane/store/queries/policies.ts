import { and, eq } from '../drizzle.ts'
import type { PolicyName } from '../../policy/policies.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../sqlite.ts'

const table = schema.tenantPolicies
type PolicyRow = typeof table.$inferSelect

export async function policiesOf(queries: Queries, tenantId: string): Promise<PolicyRow[]> {
  return await queries.select().from(table).where(eq(table.tenantId, tenantId))
}

export async function findPolicy(queries: Queries, tenantId: string, name: PolicyName) {
  const [row] = await queries
    .select()
    .from(table)
    .where(and(eq(table.tenantId, tenantId), eq(table.name, name)))
  return row
}

export async function upsertPolicy(queries: Queries, row: PolicyRow): Promise<void> {
  const { settings, updatedAt } = row
  await queries
    .insert(table)
    .values(row)
    .onConflictDoUpdate({ target: [table.tenantId, table.name], set: { settings, updatedAt } })
}
