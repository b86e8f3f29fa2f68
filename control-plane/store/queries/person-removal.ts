/** What hangs on a person and may be very much. */
import { and, eq } from '../drizzle.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteSome } from '../statements.ts'

const OF_PERSON = [
  schema.groupMembers,
  schema.personAttributes,
  schema.pastMembers,
  schema.pastAttributes,
  schema.knownDevices,
  schema.connectionIdentities,
] as const

/** Answers whether that was all. */
export async function deleteSomeOfPerson(
  queries: Queries,
  { tenantId, userId }: { readonly tenantId: string; readonly userId: string },
): Promise<boolean> {
  let room: number = LIMITS.rowsDeletedAtOnceMax
  for (const table of OF_PERSON) {
    const areTheirs = and(eq(table.tenantId, tenantId), eq(table.userId, userId))
    room -= await deleteSome(queries, table, areTheirs, room)
    if (room === 0) return false
  }
  return true
}
