import { and, eq, inArray } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'

/** What people are called, by their ids; who is no longer there has none. Of a page, so not many. */
export async function namesOfUsers(
  queries: Queries,
  tenantId: string | undefined,
  userIds: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> {
  const { users } = schema
  const wanted = [...new Set(userIds.filter((userId) => userId !== null))]
  if (wanted.length === 0) return new Map()
  const rows = await queries
    .select({ userId: users.userId, name: users.name, username: users.username })
    .from(users)
    .where(
      and(
        tenantId === undefined ? undefined : eq(users.tenantId, tenantId),
        inArray(users.userId, wanted),
      ),
    )
  return new Map(rows.map(({ userId, name, username }) => [userId, name || username]))
}
