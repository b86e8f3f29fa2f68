/** People and groups that a provider pushes: found by what it knows of them, in pages of numbers. */
import { setImmediate as breathe } from 'node:timers/promises'
import { and, asc, eq, exists, gt, gte, inArray, or, sql, type SQL } from '../drizzle.ts'
import type { Queries } from '../engine.ts'
import { schema } from '../schema.ts'
import { deleteBy, findBy, inParts, updateBy } from '../statements.ts'
import { refuseTaken } from './conflicts.ts'
import type { UserRow } from './users.ts'

const { scimPeople: people, scimGroups: groups, groupMembers: members, users } = schema

export type ScimPersonRow = typeof people.$inferSelect
export type ScimGroupRow = typeof groups.$inferSelect

export interface ScimPerson {
  readonly person: ScimPersonRow
  readonly user: UserRow
}

/** Texts are folded where any case is meant. */
export type PeopleTerm =
  | {
      readonly of: 'id' | 'externalId' | 'userNameKey' | 'displayKey' | 'emailKey'
      readonly value: string
    }
  | { readonly of: 'isActive'; readonly value: boolean }
export type GroupTerm = {
  readonly of: 'id' | 'externalId' | 'displayKey' | 'member'
  readonly value: string
}

interface Numbered {
  /** From 0 on. */
  readonly offset: number
  readonly limit: number
}

export const findScimPerson = findBy(people, 'tenantId', 'userId')
const updateScimPersonRow = updateBy(people, 'tenantId', 'userId')
export const deleteScimPerson = deleteBy(people, 'tenantId', 'userId')

const UNIQUE_PERSON = [
  { column: 'scim_people.user_name_key', refusal: 'username_taken', field: 'userName' },
] as const

export async function insertScimPerson(queries: Queries, row: ScimPersonRow): Promise<void> {
  await refuseTaken(queries.insert(people).values(row), UNIQUE_PERSON)
}

export async function updateScimPerson(queries: Queries, row: ScimPersonRow): Promise<void> {
  const { tenantId, userId, ...changes } = row
  await refuseTaken(updateScimPersonRow(queries, tenantId, userId, changes), UNIQUE_PERSON)
}

/**
 * In the order in which they came. Very many are walked over by the index alone; whether somebody is
 * active stands elsewhere, so those are looked at a thousand in a turn.
 */
export async function scimPeopleListed(
  queries: Queries,
  tenantId: string,
  terms: readonly PeopleTerm[],
  place: Numbered,
): Promise<{ readonly total: number; readonly found: readonly ScimPerson[] }> {
  const wished = terms.flatMap((term) => (term.of === 'isActive' ? [term.value] : []))
  const others = terms.flatMap((term) => (term.of === 'isActive' ? [] : [term]))
  const areMeant = and(
    eq(people.tenantId, tenantId),
    ...others.map((term) => personCondition(queries, tenantId, term)),
  )
  const list = wished.length > 0 ? listedActive : listedAll
  const { total, userIds } = await list(queries, areMeant, place, wished)
  return { total, found: await scimPeopleOf(queries, tenantId, userIds) }
}

const IN_ORDER = [asc(people.createdAt), asc(people.userId)] as const

interface ListedIds {
  readonly total: number
  readonly userIds: readonly string[]
}

async function listedAll(
  queries: Queries,
  areMeant: SQL | undefined,
  { offset, limit }: Numbered,
): Promise<ListedIds> {
  const total = await queries.$count(people, areMeant)
  if (limit === 0 || offset >= total) return { total, userIds: [] }
  const rows = await queries
    .select({ userId: people.userId })
    .from(people)
    .where(areMeant)
    .orderBy(...IN_ORDER)
    .limit(limit)
    .offset(offset)
  return { total, userIds: rows.map(({ userId }) => userId) }
}

/** Of those that are walked over between two turns of others. */
const WALKED_MAX = 1000

async function listedActive(
  queries: Queries,
  areMeant: SQL | undefined,
  { offset, limit }: Numbered,
  wished: readonly boolean[],
): Promise<ListedIds> {
  const userIds: string[] = []
  let total = 0
  let behind: SQL | undefined
  for (;;) {
    const { createdAt, userId } = people
    const rows = await queries
      .select({ userId, createdAt, isDisabled: users.isDisabled })
      .from(people)
      .innerJoin(users, and(eq(users.tenantId, people.tenantId), eq(users.userId, userId)))
      .where(and(areMeant, behind))
      .orderBy(...IN_ORDER)
      .limit(WALKED_MAX)
    for (const row of rows) {
      if (!wished.every((isActive) => isActive === !row.isDisabled)) continue
      if (total >= offset && userIds.length < limit) userIds.push(row.userId)
      total++
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < WALKED_MAX) return { total, userIds }
    const isLater = and(eq(createdAt, last.createdAt), gt(userId, last.userId))
    // the first of both is what the index is asked by
    behind = and(gte(createdAt, last.createdAt), or(gt(createdAt, last.createdAt), isLater))
    await breathe()
  }
}

/** In the order of their ids as given. */
async function scimPeopleOf(
  queries: Queries,
  tenantId: string,
  userIds: readonly string[],
): Promise<ScimPerson[]> {
  if (userIds.length === 0) return []
  const rows = await queries
    .select({ person: people, user: users })
    .from(people)
    .innerJoin(users, and(eq(users.tenantId, people.tenantId), eq(users.userId, people.userId)))
    .where(and(eq(people.tenantId, tenantId), inArray(people.userId, [...userIds])))
  const byId = new Map(rows.map((row) => [row.person.userId, row]))
  return userIds.flatMap((userId) => byId.get(userId) ?? [])
}

function personCondition(
  queries: Queries,
  tenantId: string,
  term: Exclude<PeopleTerm, { readonly of: 'isActive' }>,
): SQL {
  switch (term.of) {
    case 'id':
      return eq(people.userId, term.value)
    case 'externalId':
      return eq(people.externalId, term.value)
    case 'userNameKey':
      return eq(people.userNameKey, term.value)
    case 'displayKey':
      return eq(people.displayKey, term.value)
    case 'emailKey':
      return inArray(
        people.userId,
        queries
          .select({ userId: users.userId })
          .from(users)
          .where(and(eq(users.tenantId, tenantId), eq(users.emailKey, term.value))),
      )
  }
}

/** Which of these are people that a provider has made here. */
export async function scimPeopleAmong(
  queries: Queries,
  tenantId: string,
  userIds: readonly string[],
): Promise<Set<string>> {
  const known = new Set<string>()
  for await (const some of inParts(userIds, TOGETHER)) {
    const rows = await queries
      .select({ userId: people.userId })
      .from(people)
      .where(and(eq(people.tenantId, tenantId), inArray(people.userId, some)))
    for (const { userId } of rows) known.add(userId)
  }
  return known
}

const TOGETHER = 500

export const findScimGroup = findBy(groups, 'tenantId', 'groupId')
export const findScimGroupByName = findBy(groups, 'tenantId', 'name')
export const deleteScimGroup = deleteBy(groups, 'tenantId', 'groupId')
export const deleteScimGroupCalled = deleteBy(groups, 'tenantId', 'name')
const updateScimGroupRow = updateBy(groups, 'tenantId', 'groupId')

const UNIQUE_GROUP = [
  { column: 'scim_groups.display_key', refusal: 'group_taken', field: 'displayName' },
] as const

export async function insertScimGroup(queries: Queries, row: ScimGroupRow): Promise<void> {
  await refuseTaken(queries.insert(groups).values(row), UNIQUE_GROUP)
}

export async function updateScimGroup(queries: Queries, row: ScimGroupRow): Promise<void> {
  const { tenantId, groupId, ...changes } = row
  await refuseTaken(updateScimGroupRow(queries, tenantId, groupId, changes), UNIQUE_GROUP)
}

export async function scimGroupsListed(
  queries: Queries,
  tenantId: string,
  terms: readonly GroupTerm[],
  { offset, limit }: Numbered,
): Promise<{ readonly total: number; readonly found: readonly ScimGroupRow[] }> {
  const conditions = terms.map((term) => groupCondition(queries, term))
  const areMeant = and(eq(groups.tenantId, tenantId), ...conditions)
  const total = await queries.$count(groups, areMeant)
  if (limit === 0 || offset >= total) return { total, found: [] }
  const found = await queries
    .select()
    .from(groups)
    .where(areMeant)
    .orderBy(asc(groups.createdAt), asc(groups.groupId))
    .limit(limit)
    .offset(offset)
  return { total, found }
}

function groupCondition(queries: Queries, { of, value }: GroupTerm): SQL {
  switch (of) {
    case 'id':
      return eq(groups.groupId, value)
    case 'externalId':
      return eq(groups.externalId, value)
    case 'displayKey':
      return eq(groups.displayKey, value)
    case 'member':
      return exists(
        queries
          .select({ one: sql`1` })
          .from(members)
          .where(
            and(
              eq(members.tenantId, groups.tenantId),
              eq(members.group, groups.name),
              eq(members.userId, value),
              eq(members.source, 'scim'),
            ),
          ),
      )
  }
}
