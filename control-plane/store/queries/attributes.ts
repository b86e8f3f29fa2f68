/** What people are (`department`), by which source, and what they have been. */
import { and, asc, eq, gt, inArray, lte } from '../drizzle.ts'
import type { Queries } from '../engine.ts'
import { schema } from '../schema.ts'
import { allBy, deleteBefore, deleteBy, inParts, insertRows } from '../statements.ts'

const { personAttributes: attributes, pastAttributes: past } = schema

export type AttributeRow = typeof attributes.$inferSelect
type Source = AttributeRow['source']

/** Bounded by the limit of each person. */
export const attributesOf = allBy(
  attributes,
  ['tenantId', 'userId'],
  asc(attributes.name),
  asc(attributes.value),
  asc(attributes.source),
)
export const deleteAttributesOf = deleteBy(attributes, 'tenantId', 'userId')
export const deletePastAttributesOf = deleteBy(past, 'tenantId', 'userId')
export const deletePastAttributesBefore = deleteBefore(past.endedAt)

export async function insertAttributes(queries: Queries, rows: readonly AttributeRow[]) {
  for await (const some of inParts(rows)) await insertRows(queries, attributes, some)
}

/** They end, and are written down as having been. */
export async function endAttributes(
  queries: Queries,
  rows: readonly AttributeRow[],
  endedAt: number,
): Promise<void> {
  for (const { tenantId, userId, name, value, source } of rows)
    await queries
      .delete(attributes)
      .where(
        and(
          eq(attributes.tenantId, tenantId),
          eq(attributes.userId, userId),
          eq(attributes.name, name),
          eq(attributes.value, value),
          eq(attributes.source, source),
        ),
      )
  // one that began and ended within the millisecond has never been
  const been = rows.filter(({ createdAt }) => createdAt < endedAt)
  for await (const some of inParts(been.map((row) => ({ ...row, endedAt }))))
    await insertRows(queries, past, some)
}

/** What this person was then, by whatever source. */
export async function attributesOfPersonAt(
  queries: Queries,
  tenantId: string,
  userId: string,
  atMs: number,
): Promise<readonly { readonly name: string; readonly value: string }[]> {
  const { name, value } = attributes
  const now = await queries
    .select({ name, value })
    .from(attributes)
    .where(
      and(
        eq(attributes.tenantId, tenantId),
        eq(attributes.userId, userId),
        lte(attributes.createdAt, atMs),
      ),
    )
  const then = await queries
    .select({ name: past.name, value: past.value })
    .from(past)
    .where(
      and(
        eq(past.tenantId, tenantId),
        eq(past.userId, userId),
        lte(past.createdAt, atMs),
        gt(past.endedAt, atMs),
      ),
    )
  return [...now, ...then]
}

/** Of attributes with these names alone. */
export async function attributesOfPeople(
  queries: Queries,
  tenantId: string,
  userIds: readonly string[],
  names: ReadonlySet<string>,
) {
  if (names.size === 0) return []
  const { userId, name, value } = attributes
  const areTheirs = and(eq(attributes.tenantId, tenantId), inArray(userId, [...userIds]))
  return await queries
    .select({ userId, name, value })
    .from(attributes)
    .where(and(areTheirs, inArray(name, [...names])))
}

/** Some of those who have it by this source. */
export async function someWithAttribute(
  queries: Queries,
  { tenantId, name, source }: { tenantId: string; name: string; source: Source },
  limit: number,
): Promise<string[]> {
  const rows = await queries
    .selectDistinct({ userId: attributes.userId })
    .from(attributes)
    .where(
      and(
        eq(attributes.tenantId, tenantId),
        eq(attributes.name, name),
        eq(attributes.source, source),
      ),
    )
    .orderBy(asc(attributes.userId))
    .limit(limit)
  return rows.map(({ userId }) => userId)
}
