/** A tenant's users as a list: found by any part of what they are called, filtered, sorted by an index. */
import { setImmediate as breathe } from 'node:timers/promises'
import { LIMITS } from '../../../shared/limits.ts'
import {
  and,
  asc,
  desc,
  eq,
  exists,
  gt,
  gte,
  inArray,
  lt,
  lte,
  ne,
  notExists,
  or,
  sql,
  type SQL,
} from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { CONSOLE_REALM } from '../reserved.ts'
import type { UserRow } from './users.ts'

const { users, factors } = schema

export interface UserFilter {
  /** Folded. */
  readonly text?: string | undefined
  readonly status?: 'active' | 'invited' | 'disabled' | undefined
  readonly secondFactor?: 'set_up' | 'none' | 'required' | undefined
  readonly source?: 'own' | 'directory' | undefined
  /** Nobody else. */
  readonly userIds?: readonly string[] | undefined
}

export type UserOrder = 'username' | 'created' | 'last_sign_in' | 'inactive'

/** What each order but that of names goes by. */
export const TIME_OF = {
  created: 'createdAt',
  last_sign_in: 'lastSignInAt',
  inactive: 'lastSignInAt',
} as const satisfies Record<Exclude<UserOrder, 'username'>, keyof UserRow>

/** A key of a username, or a time and an id. */
type Place = string | { readonly at: number; readonly userId: string }

interface Listed {
  readonly filter: UserFilter
  readonly order: UserOrder
  /** The last of the page before. */
  readonly behind: Place | undefined
  readonly limit: number
}

/** Of whom most may not be meant: so many are looked at before others have their turn. */
const LOOKED_AT_TOGETHER = 5000

export async function usersListed(
  queries: Queries,
  tenantId: string,
  { filter, order, behind, limit }: Listed,
): Promise<UserRow[]> {
  const { text = '', status, secondFactor, source, userIds } = filter
  const isSought = userIds === undefined && [text, status, secondFactor, source].some(Boolean)
  const found: UserRow[] = []
  for (let from = behind; ;) {
    const end = isSought ? await endOfLook(queries, tenantId, order, from) : undefined
    const { isBehind, sorted } = walkOf(order, from)
    const isUpTo = end === undefined ? undefined : upTo(order, end)
    const some = await queries
      .select()
      .from(users)
      .where(and(eq(users.tenantId, tenantId), isBehind, isUpTo, isMeant(queries, filter)))
      .orderBy(...sorted)
      .limit(limit - found.length)
    found.push(...some)
    if (end === undefined || found.length >= limit) return found
    from = end
    await breathe()
  }
}

/** By the index alone; undefined: there are not so many more. */
async function endOfLook(
  queries: Queries,
  tenantId: string,
  order: UserOrder,
  from: Place | undefined,
): Promise<Place | undefined> {
  const { isBehind, sorted } = walkOf(order, from)
  const { usernameKey, userId } = users
  const at = order === 'username' ? sql<number>`0` : users[TIME_OF[order]]
  const [row] = await queries
    .select({ usernameKey, userId, at })
    .from(users)
    .where(and(eq(users.tenantId, tenantId), isBehind))
    .orderBy(...sorted)
    .limit(1)
    .offset(LOOKED_AT_TOGETHER - 1)
  if (row === undefined) return undefined
  return order === 'username' ? row.usernameKey : { at: row.at, userId: row.userId }
}

/** This one as well, and whoever comes before. */
function upTo(order: UserOrder, end: Place): SQL | undefined {
  if (order === 'username' || typeof end === 'string')
    return typeof end === 'string' ? lte(users.usernameKey, end) : undefined
  const column = users[TIME_OF[order]]
  const [nearer, nearest] = order === 'inactive' ? [lt, lte] : [gt, gte]
  return or(nearer(column, end.at), and(eq(column, end.at), nearest(users.userId, end.userId)))
}

/** Of all tenants; the realm of the console is none. */
export async function usersOfAll(queries: Queries, text: string, limit: number) {
  const isOfTenant = and(ne(users.tenantId, CONSOLE_REALM), isMeant(queries, { text }))
  return await queries.select().from(users).where(isOfTenant).limit(limit)
}

function walkOf(order: UserOrder, behind: Listed['behind']) {
  if (order === 'username')
    return {
      isBehind: typeof behind === 'string' ? gt(users.usernameKey, behind) : undefined,
      sorted: [asc(users.usernameKey)],
    }
  const column = users[TIME_OF[order]]
  const [further, sort] = order === 'inactive' ? [gt, asc] : [lt, desc]
  const isBehind =
    typeof behind === 'object'
      ? or(
          further(column, behind.at),
          and(eq(column, behind.at), further(users.userId, behind.userId)),
        )
      : undefined
  return { isBehind, sorted: [sort(column), sort(users.userId)] }
}

function isMeant(queries: Queries, filter: UserFilter): SQL | undefined {
  const { text = '', status, secondFactor, source, userIds } = filter
  return and(
    ne(users.source, 'trial'),
    text === '' ? undefined : isCalled(text),
    status && STATUSES[status],
    secondFactor && factorCondition(queries, secondFactor),
    source && eq(users.source, source),
    userIds && inArray(users.userId, [...userIds]),
  )
}

const isInvited = and(eq(users.source, 'own'), eq(users.passwordHash, ''))
const STATUSES: Readonly<Record<NonNullable<UserFilter['status']>, SQL | undefined>> = {
  active: and(eq(users.isDisabled, false), or(ne(users.source, 'own'), ne(users.passwordHash, ''))),
  invited: and(eq(users.isDisabled, false), isInvited),
  disabled: eq(users.isDisabled, true),
}

/** Recovery codes alone are none. */
function factorCondition(queries: Queries, wish: NonNullable<UserFilter['secondFactor']>) {
  if (wish === 'required') return eq(users.isFactorRequired, true)
  const own = queries
    .select({ one: sql`1` })
    .from(factors)
    .where(
      and(
        eq(factors.tenantId, users.tenantId),
        eq(factors.userId, users.userId),
        ne(factors.kind, 'recovery'),
      ),
    )
  return wish === 'set_up' ? exists(own) : notExists(own)
}

/** Ids are random: the first letters of a name would be in the middle of many. */
const ID_PART_CHARACTERS_MIN = 4

/** SQLite folds ASCII alone, so a name is looked for as it is spelled at its beginning as well. */
function isCalled(folded: string): SQL | undefined {
  const spelled = [
    folded,
    folded.replace(/^./u, (first) => first.toUpperCase()),
    folded.toUpperCase(),
  ]
  const isIn = (column: SQL, part: string) => sql`instr(${column}, ${part}) > 0`
  return or(
    isIn(sql`${users.usernameKey}`, folded),
    isIn(sql`${users.emailKey}`, folded),
    folded.length < ID_PART_CHARACTERS_MIN ? undefined : isIn(sql`lower(${users.userId})`, folded),
    isIn(sql`lower(${users.name})`, folded),
    ...(/^[\x20-\x7e]*$/.test(folded) ? [] : spelled.map((part) => isIn(sql`${users.name}`, part))),
  )
}

/** Which of these keys are somebody's already. */
export async function takenKeys(queries: Queries, tenantId: string, keys: readonly string[]) {
  const taken = { emails: new Set<string>(), usernames: new Set<string>() }
  for (let from = 0; from < keys.length; from += LIMITS.pageItemsMax) {
    const some = keys.slice(from, from + LIMITS.pageItemsMax)
    for (const [column, into] of [
      [users.emailKey, taken.emails],
      [users.usernameKey, taken.usernames],
    ] as const) {
      const rows = await queries
        .select({ key: column })
        .from(users)
        .where(and(eq(users.tenantId, tenantId), inArray(column, some)))
      for (const { key } of rows) into.add(key)
    }
  }
  return taken
}
