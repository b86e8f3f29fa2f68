import { and, asc, eq, inArray } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../sqlite.ts'
import { refuseTaken } from './conflicts.ts'

export type SigningKeyRow = typeof schema.signingKeys.$inferSelect

/** In the order in which they are published: the one in use, the one about to be, the old ones. */
const PHASES = ['current', 'next', 'retired'] as const

export async function signingKeysOf(queries: Queries, tenantId: string): Promise<SigningKeyRow[]> {
  return signingKeysOfAll(queries, [tenantId])
}

/** Of many tenants at once; in the published order within each. */
export async function signingKeysOfAll(queries: Queries, tenantIds: readonly string[]) {
  const rows = await queries
    .select()
    .from(schema.signingKeys)
    .where(inArray(schema.signingKeys.tenantId, [...tenantIds]))
    .orderBy(asc(schema.signingKeys.createdAt), asc(schema.signingKeys.kid))
  return PHASES.flatMap((phase) => rows.filter((row) => row.phase === phase))
}

export async function insertSigningKey(queries: Queries, row: SigningKeyRow): Promise<void> {
  await refuseTaken(queries.insert(schema.signingKeys).values(row), [
    {
      column: 'signing_keys.kid',
      index: 'signing_keys_pkey',
      refusal: 'key_taken',
      field: 'private_key_pem',
    },
  ])
}

export async function updateSigningKey(
  queries: Queries,
  key: Pick<SigningKeyRow, 'tenantId' | 'kid'>,
  changes: Partial<Pick<SigningKeyRow, 'phase' | 'promotedAt' | 'retiredAt'>>,
): Promise<void> {
  const isKey = and(
    eq(schema.signingKeys.tenantId, key.tenantId),
    eq(schema.signingKeys.kid, key.kid),
  )
  await queries.update(schema.signingKeys).set(changes).where(isKey)
}

export async function deleteSigningKeys(
  queries: Queries,
  tenantId: string,
  kids: readonly string[],
): Promise<void> {
  const areKeys = and(
    eq(schema.signingKeys.tenantId, tenantId),
    inArray(schema.signingKeys.kid, [...kids]),
  )
  await queries.delete(schema.signingKeys).where(areKeys)
}
