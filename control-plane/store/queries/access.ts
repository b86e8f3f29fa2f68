import { and, asc, eq, gt, inArray, sql } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { allBy, deleteBy, findBy, insertInto, upsertInto } from '../statements.ts'

const { accessRules: rules, groups, groupMembers: members } = schema

export type AccessRulesRow = typeof rules.$inferSelect
export type GroupRow = typeof groups.$inferSelect
export type MemberRow = typeof members.$inferSelect

export const findAccessRules = findBy(rules, 'tenantId')
export const upsertAccessRules = upsertInto(
  rules,
  ['tenantId'],
  'content',
  'slots',
  'slotsVersion',
  'updatedAt',
)

export async function accessRulesOfAll(
  queries: Queries,
  tenantIds: readonly string[],
): Promise<AccessRulesRow[]> {
  if (tenantIds.length === 0) return []
  return await queries
    .select()
    .from(rules)
    .where(inArray(rules.tenantId, [...tenantIds]))
}

export const insertGroup = insertInto(groups)
export const findGroup = findBy(groups, 'tenantId', 'name')
/** Bounded by the limit of each tenant. */
export const groupsOf = allBy(groups, ['tenantId'], asc(groups.name))
export const deleteGroup = deleteBy(groups, 'tenantId', 'name')

export const insertMember = insertInto(members)
export const findMember = findBy(members, 'tenantId', 'group', 'userId', 'source')
export const deleteMember = deleteBy(members, 'tenantId', 'group', 'userId', 'source')
export const deleteMembersOf = deleteBy(members, 'tenantId', 'group')
export const deleteMembershipsOf = deleteBy(members, 'tenantId', 'userId')
export const membershipsOf = allBy(members, ['tenantId', 'userId'])

/** In the order of their ids, each once for each source. */
export async function membersAfter(
  queries: Queries,
  tenantId: string,
  group: string,
  after: string,
  limit: number,
): Promise<MemberRow[]> {
  return await queries
    .select()
    .from(members)
    .where(and(eq(members.tenantId, tenantId), eq(members.group, group), gt(members.userId, after)))
    .orderBy(asc(members.userId), asc(members.source))
    .limit(limit)
}

export async function memberCounts(
  queries: Queries,
  tenantId: string,
): Promise<ReadonlyMap<string, number>> {
  const count = sql<number>`count(distinct ${members.userId})`
  const rows = await queries
    .select({ group: members.group, count })
    .from(members)
    .where(eq(members.tenantId, tenantId))
    .groupBy(members.group)
  return new Map(rows.map((row) => [row.group, Number(row.count)]))
}
