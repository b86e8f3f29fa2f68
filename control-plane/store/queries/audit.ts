import { and, desc, eq, inArray, lt, or } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../sqlite.ts'

export type AuditRow = typeof schema.audit.$inferSelect

/**
 * Of a tenant, without those that had its id before it; or of an id, with all that ever had it,
 * which is for operators only; or of all.
 */
export interface AuditFilter {
  readonly tenantNumber?: number
  readonly tenantId?: string | undefined
}

/** Newest first. */
export async function auditBefore(
  queries: Queries,
  { tenantNumber, tenantId }: AuditFilter,
  before: number | undefined,
  limit: number,
): Promise<AuditRow[]> {
  const { audit } = schema
  return await queries
    .select()
    .from(audit)
    .where(
      and(
        tenantNumber === undefined ? undefined : eq(audit.tenantNumber, tenantNumber),
        tenantId === undefined ? undefined : eq(audit.tenantId, tenantId),
        before === undefined ? undefined : lt(audit.sequence, before),
      ),
    )
    .orderBy(desc(audit.sequence))
    .limit(limit)
}

/** What was done about this person, and what they have done. */
export async function auditOfPerson(
  queries: Queries,
  userId: string,
  limit: number,
): Promise<AuditRow[]> {
  const { audit } = schema
  return await queries
    .select()
    .from(audit)
    .where(or(eq(audit.userId, userId), eq(audit.actorId, userId)))
    .orderBy(desc(audit.sequence))
    .limit(limit)
}

export async function deleteAuditBefore(
  queries: Queries,
  beforeMs: number,
  limit: number,
): Promise<number> {
  const { audit } = schema
  const old = await queries
    .select({ sequence: audit.sequence })
    .from(audit)
    .where(lt(audit.at, beforeMs))
    .limit(limit)
  if (old.length === 0) return 0
  const sequences = old.map(({ sequence }) => sequence)
  await queries.delete(audit).where(inArray(audit.sequence, sequences))
  return sequences.length
}
