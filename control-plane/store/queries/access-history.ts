import { and, asc, desc, eq, gt, gte, inArray, lt, lte, type SQL } from '../drizzle.ts'
import type { Queries } from '../engine.ts'
import { schema } from '../schema.ts'
import { deleteBefore, deleteBy, firstBy, inParts, insertRows, upsertInto } from '../statements.ts'

const { accessRuleVersions: versions, groupMembers: members, pastMembers: past, sessions } = schema

/** Two within one millisecond are one: the last. */
export const upsertRuleVersion = upsertInto(versions, ['tenantId', 'at'], 'actor', 'content')
/** Newest first. */
const newestVersions = firstBy(versions, ['tenantId'], desc(versions.at))

/** All but the newest so many go. */
export async function keepNewestVersions(queries: Queries, tenantId: string, most: number) {
  const last = (await newestVersions(queries, tenantId, most)).at(-1)
  if (last === undefined) return
  const isOlder = and(eq(versions.tenantId, tenantId), lt(versions.at, last.at))
  await queries.delete(versions).where(isOlder)
}

/** undefined: there were no rules, or nobody knows any more. */
export async function ruleVersionAt(queries: Queries, tenantId: string, atMs: number) {
  const [row] = await queries
    .select()
    .from(versions)
    .where(and(eq(versions.tenantId, tenantId), lte(versions.at, atMs)))
    .orderBy(desc(versions.at))
    .limit(1)
  return row
}

/** When rules were saved, and by whom; newest first. */
export async function ruleVersionsBefore(queries: Queries, tenantId: string, limit: number) {
  const { at, actor } = versions
  return await queries
    .select({ at, actor })
    .from(versions)
    .where(eq(versions.tenantId, tenantId))
    .orderBy(desc(at))
    .limit(limit)
}

/** Those that are meant end now, and are written down as having been. */
export async function endMemberships(
  queries: Queries,
  areMeant: SQL | undefined,
  endedAt: number,
): Promise<void> {
  const gone = await queries.delete(members).where(areMeant).returning()
  // one that began and ended within the millisecond has never been
  const been = gone.filter(({ createdAt }) => createdAt < endedAt)
  for await (const some of inParts(been.map((row) => ({ ...row, endedAt }))))
    await insertRows(queries, past, some)
}

export const deletePastMembershipsOf = deleteBy(past, 'tenantId', 'userId')
export const deletePastMembersBefore = deleteBefore(past.endedAt)

/** Groups that this person was in then, by whatever source. */
export async function groupsOfPersonAt(
  queries: Queries,
  tenantId: string,
  userId: string,
  atMs: number,
): Promise<ReadonlySet<string>> {
  const now = await queries
    .select({ group: members.group })
    .from(members)
    .where(
      and(eq(members.tenantId, tenantId), eq(members.userId, userId), lte(members.createdAt, atMs)),
    )
  const then = await queries
    .select({ group: past.group })
    .from(past)
    .where(
      and(
        eq(past.tenantId, tenantId),
        eq(past.userId, userId),
        lte(past.createdAt, atMs),
        gt(past.endedAt, atMs),
      ),
    )
  return new Set([...now, ...then].map(({ group }) => group))
}

/** Of these groups alone. */
export async function groupsOfPeople(
  queries: Queries,
  tenantId: string,
  userIds: readonly string[],
  among: ReadonlySet<string>,
): Promise<{ readonly userId: string; readonly group: string }[]> {
  if (among.size === 0) return []
  const areTheirs = and(eq(members.tenantId, tenantId), inArray(members.userId, [...userIds]))
  return await queries
    .select({ userId: members.userId, group: members.group })
    .from(members)
    .where(and(areTheirs, inArray(members.group, [...among])))
}

/** Who was here since then, once for each address that they signed in from, in the order of their ids. */
export async function peopleSeenSince(
  queries: Queries,
  tenantId: string,
  { sinceMs, begunSinceMs }: { readonly sinceMs: number; readonly begunSinceMs: number },
  limit: number,
): Promise<{ readonly userId: string; readonly ip: string }[]> {
  const { userId, ip, createdAt, lastSeenAt } = sessions
  return await queries
    .selectDistinct({ userId, ip })
    .from(sessions)
    .where(
      and(eq(sessions.tenantId, tenantId), gte(createdAt, begunSinceMs), gte(lastSeenAt, sinceMs)),
    )
    .orderBy(asc(userId), asc(ip))
    .limit(limit)
}
