/** What people are (`department`), by which source, and what they have been. */
import { and, asc, eq, gt, inArray, lte, or } from '../drizzle.ts'
import type { Queries } from '../engine.ts'
import { schema } from '../schema.ts'
import { allBy, deleteBefore, deleteBy, inParts, insertRows } from '../statements.ts'

const { personAttributes: attributes, pastAttributes: past } = schema

export type AttributeRow = typeof attributes.$inferSelect
export type OfName = Pick<AttributeRow, 'tenantId' | 'name' | 'source'>

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

/** So many (name, value) pairs are looked for by one statement. */
const PAIRS_TOGETHER = 50

/** Of one person and source they end, and are written down as having been. */
export async function endAttributes(
  queries: Queries,
  rows: readonly AttributeRow[],
  endedAt: number,
): Promise<void> {
  for await (const some of inParts(rows, PAIRS_TOGETHER)) {
    const [{ tenantId, userId, source }] = some as [AttributeRow]
    const pairs = some.map(({ name, value }) =>
      and(eq(attributes.name, name), eq(attributes.value, value)),
    )
    const isTheirs = and(eq(attributes.userId, userId), eq(attributes.source, source))
    await queries
      .delete(attributes)
      .where(and(eq(attributes.tenantId, tenantId), isTheirs, or(...pairs)))
  }
  await writeDown(queries, rows, endedAt)
}

/** Of one name and source, with all of its values: many people's at once. */
export async function endAttributeOf(
  queries: Queries,
  { tenantId, name, source }: OfName,
  rows: readonly AttributeRow[],
  endedAt: number,
): Promise<void> {
  const isOf = and(
    eq(attributes.tenantId, tenantId),
    eq(attributes.name, name),
    eq(attributes.source, source),
  )
  for await (const some of inParts([...new Set(rows.map(({ userId }) => userId))]))
    await queries.delete(attributes).where(and(isOf, inArray(attributes.userId, some)))
  await writeDown(queries, rows, endedAt)
}

/** One that began and ended within the millisecond has never been. */
async function writeDown(queries: Queries, rows: readonly AttributeRow[], endedAt: number) {
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

/** Of one name, with all values that these people have, by whatever source. */
export async function attributeAmong(
  queries: Queries,
  tenantId: string,
  name: string,
  userIds: readonly string[],
): Promise<AttributeRow[]> {
  const isOf = and(eq(attributes.tenantId, tenantId), eq(attributes.name, name))
  const rows: AttributeRow[] = []
  for await (const some of inParts(userIds)) {
    const found = queries.select().from(attributes)
    rows.push(...(await found.where(and(isOf, inArray(attributes.userId, some)))))
  }
  return rows
}

/** Which there are by this source: one look into the index for each, however many people have it. */
export async function attributeNamesBy(
  queries: Queries,
  tenantId: string,
  source: AttributeRow['source'],
): Promise<string[]> {
  const { name } = attributes
  const isOf = and(eq(attributes.tenantId, tenantId), eq(attributes.source, source))
  const names: string[] = []
  for (;;) {
    const found = queries.select({ name }).from(attributes)
    const behind = found.where(and(isOf, gt(name, names.at(-1) ?? '')))
    const [row] = await behind.orderBy(asc(name)).limit(1)
    if (row === undefined) return names
    names.push(row.name)
  }
}

/** Some of those who have it by this source. */
export async function someWithAttribute(
  queries: Queries,
  { tenantId, name, source }: OfName,
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
