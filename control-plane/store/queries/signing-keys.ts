import { and, asc, eq, inArray } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { updateBy } from '../statements.ts'
import { refuseTaken } from './conflicts.ts'

const table = schema.signingKeys
export type SigningKeyRow = typeof table.$inferSelect

/** In the order in which they are published: the one in use, the one about to be, the old ones. */
const PHASES = ['current', 'next', 'retired'] as const

export async function signingKeysOf(queries: Queries, tenantId: string): Promise<SigningKeyRow[]> {
  return signingKeysOfAll(queries, [tenantId])
}

/** Of many tenants at once; in the published order within each. */
export async function signingKeysOfAll(queries: Queries, tenantIds: readonly string[]) {
  const rows = await queries
    .select()
    .from(table)
    .where(inArray(table.tenantId, [...tenantIds]))
    .orderBy(asc(table.createdAt), asc(table.kid))
  return PHASES.flatMap((phase) => rows.filter((row) => row.phase === phase))
}

export async function insertSigningKey(queries: Queries, row: SigningKeyRow): Promise<void> {
  await refuseTaken(queries.insert(table).values(row), [
    { column: 'signing_keys.kid', refusal: 'key_taken', field: 'private_key_pem' },
  ])
}

export const updateSigningKey = updateBy(table, 'tenantId', 'kid')

export async function deleteSigningKeys(
  queries: Queries,
  tenantId: string,
  kids: readonly string[],
): Promise<void> {
  await queries
    .delete(table)
    .where(and(eq(table.tenantId, tenantId), inArray(table.kid, [...kids])))
}
