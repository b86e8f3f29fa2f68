import { and, count, eq, gte, lt } from 'drizzle-orm'
import { schema } from '../schema.ts'
import type { Queries } from '../sqlite.ts'

const table = schema.webhookDeliveries

/** Deliveries that were given up from `fromMs` up to before `toMs`; what was only a test is none. */
export async function countFailedDeliveries(
  queries: Queries,
  tenantId: string,
  fromMs: number,
  toMs: number,
): Promise<number> {
  const [row] = await queries
    .select({ failed: count() })
    .from(table)
    .where(
      and(
        eq(table.tenantId, tenantId),
        eq(table.state, 'failed'),
        eq(table.isTest, false),
        gte(table.updatedAt, fromMs),
        lt(table.updatedAt, toMs),
      ),
    )
  return row?.failed ?? 0
}
