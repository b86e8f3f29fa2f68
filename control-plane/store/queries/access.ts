import { LIMITS } from '../../../shared/limits.ts'
import { and, asc, eq, gt, inArray, sql } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { endMemberships } from './access-history.ts'
import {
  allBy,
  deleteBy,
  firstBy,
  findBy,
  inParts,
  insertInto,
  insertRows,
  upsertInto,
} from '../statements.ts'

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
export const deleteMembershipsOf = deleteBy(members, 'tenantId', 'userId')
export const membershipsOf = allBy(members, ['tenantId', 'userId'])
export const someMembershipsBy = firstBy(members, ['tenantId', 'userId', 'source'])

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

/** People, by whatever source. Of one group: of all together it is one long look. */
export async function memberCountOf(
  queries: Queries,
  tenantId: string,
  group: string,
): Promise<number> {
  const [row] = await queries
    .select({ count: sql<number>`count(distinct ${members.userId})` })
    .from(members)
    .where(and(eq(members.tenantId, tenantId), eq(members.group, group)))
  return Number(row?.count ?? 0)
}

type OfGroup = Pick<MemberRow, 'tenantId' | 'group' | 'source'>

/** Of one statement. */
const TOGETHER = 500

export async function insertMembers(queries: Queries, rows: readonly MemberRow[]): Promise<void> {
  for await (const some of inParts(rows, TOGETHER)) await insertRows(queries, members, some)
}

/** All memberships that these people have of a group, by whatever source. */
export async function membersAmong(
  queries: Queries,
  tenantId: string,
  group: string,
  userIds: readonly string[],
): Promise<MemberRow[]> {
  const isOf = and(eq(members.tenantId, tenantId), eq(members.group, group))
  const rows: MemberRow[] = []
  for await (const some of inParts(userIds, TOGETHER)) {
    const found = queries.select().from(members)
    rows.push(...(await found.where(and(isOf, inArray(members.userId, some)))))
  }
  return rows
}

/** They end, and are written down as having been. */
export async function deleteMembers(
  queries: Queries,
  { tenantId, group, source }: OfGroup,
  userIds: readonly string[],
  nowMs: number,
): Promise<void> {
  const isOf = and(
    eq(members.tenantId, tenantId),
    eq(members.group, group),
    eq(members.source, source),
  )
  for await (const some of inParts(userIds, TOGETHER)) {
    await endMemberships(queries, and(isOf, inArray(members.userId, some)), nowMs)
  }
}

/** Some of them, by whatever source; false once nobody is left. */
export async function deleteSomeMembersOf(
  queries: Queries,
  tenantId: string,
  group: string,
  nowMs: number,
): Promise<boolean> {
  const some = await membersAfter(queries, tenantId, group, '', LIMITS.rowsDeletedAtOnceMax)
  if (some.length === 0) return false
  const isOf = and(eq(members.tenantId, tenantId), eq(members.group, group))
  const userIds = [...new Set(some.map(({ userId }) => userId))]
  await endMemberships(queries, and(isOf, inArray(members.userId, userIds)), nowMs)
  return true
}

/** Of one source, in the order of their ids. */
export async function memberIdsOf(
  queries: Queries,
  { tenantId, group, source }: OfGroup,
  limit: number,
): Promise<string[]> {
  const rows = await queries
    .select({ userId: members.userId })
    .from(members)
    .where(
      and(eq(members.tenantId, tenantId), eq(members.group, group), eq(members.source, source)),
    )
    .orderBy(asc(members.userId))
    .limit(limit)
  return rows.map(({ userId }) => userId)
}

export async function countMembersOf(queries: Queries, { tenantId, group, source }: OfGroup) {
  return await queries.$count(
    members,
    and(eq(members.tenantId, tenantId), eq(members.group, group), eq(members.source, source)),
  )
}

const isConnected = sql`source = 'connection'` // in these words: the index is of no others

/** Groups that somebody is in by a connection: one look into the index for each of them. */
export async function connectedGroups(queries: Queries, tenantId: string): Promise<string[]> {
  const { group } = members
  const names: string[] = []
  for (;;) {
    const found = queries.select({ group }).from(members)
    const behind = and(eq(members.tenantId, tenantId), isConnected, gt(group, names.at(-1) ?? ''))
    const [row] = await found.where(behind).orderBy(asc(group)).limit(1)
    if (row === undefined) return names
    names.push(row.group)
  }
}

export async function someConnectedMembers(
  queries: Queries,
  { tenantId, group }: Omit<OfGroup, 'source'>,
  limit: number,
): Promise<string[]> {
  const rows = await queries
    .select({ userId: members.userId })
    .from(members)
    .where(and(eq(members.tenantId, tenantId), eq(members.group, group), isConnected))
    .orderBy(asc(members.userId))
    .limit(limit)
  return rows.map(({ userId }) => userId)
}
