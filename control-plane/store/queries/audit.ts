import { and, asc, desc, eq, gte, lt, sql } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteBefore, insertRows, preparedBy } from '../statements.ts'

export type AuditRow = typeof schema.audit.$inferSelect

const { audit: table, tenants } = schema
type NewEntry = Omit<AuditRow, 'tenantNumber'>

/** Of the tenant that has the id by now. */
const numberOf = (tenantId: unknown) =>
  sql`(SELECT ${tenants.number} FROM ${tenants} WHERE ${tenants.tenantId} = ${tenantId})`

const insertOne = preparedBy<unknown>((queries) =>
  queries.insert(table).values({
    sequence: sql.placeholder('sequence'),
    at: sql.placeholder('at'),
    actor: sql.placeholder('actor'),
    action: sql.placeholder('action'),
    tenantId: sql.placeholder('tenantId'),
    content: sql.placeholder('content'),
    requestId: sql.placeholder('requestId'),
    tenantNumber: numberOf(sql.placeholder('tenantId')),
    actorId: sql.placeholder('actorId'),
    userId: sql.placeholder('userId'),
  }),
)

/** One is what most changes bring. */
export async function insertAudit(queries: Queries, entries: readonly NewEntry[]): Promise<void> {
  const [entry] = entries
  if (entry !== undefined && entries.length === 1)
    return void (await insertOne(queries, { ...entry }))
  const rows = entries.map((one) => ({ ...one, tenantNumber: numberOf(one.tenantId) }))
  await insertRows(queries, table, rows)
}

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

/** The place in the trail of the first entry from then on; undefined: there is none. */
export async function firstAuditFrom(queries: Queries, atMs: number) {
  const { audit } = schema
  const [row] = await queries
    .select({ sequence: audit.sequence })
    .from(audit)
    .where(gte(audit.at, atMs))
    .orderBy(asc(audit.at))
    .limit(1)
  return row?.sequence
}

/** What was done about this person, and what they have done. */
export async function auditOfPerson(
  queries: Queries,
  userId: string,
  before: number | undefined,
  limit: number,
): Promise<AuditRow[]> {
  const { audit } = schema
  const isBefore = before === undefined ? undefined : lt(audit.sequence, before)
  // each along its own index, newest first: together all there are would be read, and sorted
  const ofEach = [audit.userId, audit.actorId].map((column) =>
    queries
      .select()
      .from(audit)
      .where(and(eq(column, userId), isBefore))
      .orderBy(desc(audit.sequence))
      .limit(limit),
  )
  const rows = new Map((await Promise.all(ofEach)).flat().map((row) => [row.sequence, row]))
  return [...rows.values()].sort((a, b) => b.sequence - a.sequence).slice(0, limit)
}

export const deleteAuditBefore = deleteBefore(schema.audit.at)
