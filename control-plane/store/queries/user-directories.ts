import { eq } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../sqlite.ts'

export type UserDirectoryRow = typeof schema.userDirectories.$inferSelect

const isOf = (tenantId: string) => eq(schema.userDirectories.tenantId, tenantId)

export async function findUserDirectory(queries: Queries, tenantId: string) {
  const [row] = await queries.select().from(schema.userDirectories).where(isOf(tenantId))
  return row
}

export async function upsertUserDirectory(queries: Queries, row: UserDirectoryRow): Promise<void> {
  const { tenantId: _, ...set } = row
  await queries
    .insert(schema.userDirectories)
    .values(row)
    .onConflictDoUpdate({ target: schema.userDirectories.tenantId, set })
}

/** Whether there was one. */
export async function deleteUserDirectory(queries: Queries, tenantId: string): Promise<boolean> {
  const gone = await queries
    .delete(schema.userDirectories)
    .where(isOf(tenantId))
    .returning({ tenantId: schema.userDirectories.tenantId })
  return gone.length > 0
}
