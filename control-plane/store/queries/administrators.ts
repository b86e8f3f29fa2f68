import { and, asc, eq } from '../drizzle.ts'
import { CONSOLE_REALM } from '../reserved.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'

/** Where mail reaches a tenant's administrators: people of the console, invited by that address. */
export async function administratorEmails(queries: Queries, tenantId: string, limit: number) {
  const { consoleRoles: roles, users } = schema
  const rows = await queries
    .select({ email: users.email })
    .from(roles)
    .innerJoin(users, eq(users.userId, roles.userId))
    .where(
      and(
        eq(roles.tenantId, tenantId),
        eq(users.tenantId, CONSOLE_REALM),
        eq(users.isDisabled, false),
      ),
    )
    .orderBy(asc(roles.userId))
    .limit(limit)
  return rows.map(({ email }) => email)
}
