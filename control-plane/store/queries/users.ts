import { and, asc, eq, gte, lt, ne } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteBy, findBy, insertInto, updateBy } from '../statements.ts'
import { refuseTaken } from './conflicts.ts'
import { deleteSignUpOf } from './sign-ups.ts'

export type UserRow = typeof schema.users.$inferSelect
export type UserChanges = Partial<Omit<UserRow, 'userId' | 'tenantId' | 'createdAt'>>

/** Of people who exist for one check of the sign-in; by it they are found without an index of their own. */
export const TRIAL_PREFIX = 'trial_'
const BEHIND_TRIALS = 'trial`' // the character after `_`

export const isTrialId = (userId: string) => userId.startsWith(TRIAL_PREFIX)

const UNIQUE = [
  { column: 'users.username_key', refusal: 'username_taken', field: 'username' },
  { column: 'users.email_key', refusal: 'email_taken', field: 'email' },
] as const

const insert = insertInto(schema.users)
const update = updateBy(schema.users, 'tenantId', 'userId')

export const findUser = findBy(schema.users, 'tenantId', 'userId')

const findUserBy = {
  usernameKey: findBy(schema.users, 'tenantId', 'usernameKey'),
  emailKey: findBy(schema.users, 'tenantId', 'emailKey'),
}

export async function findUserByKey(
  queries: Queries,
  tenantId: string,
  column: keyof typeof findUserBy,
  key: string,
) {
  return findUserBy[column](queries, tenantId, key)
}

/** Whose username or address begins so; two walks along an index, however many there are. */
export async function usersBeginning(
  queries: Queries,
  tenantId: string,
  beginning: string,
  limit: number,
): Promise<UserRow[]> {
  const { users } = schema
  const walk = async (column: typeof users.usernameKey | typeof users.emailKey) =>
    await queries
      .select()
      .from(users)
      .where(
        and(
          eq(users.tenantId, tenantId),
          gte(column, beginning),
          lt(column, `${beginning}\u{10ffff}`),
          ne(users.source, 'trial'),
        ),
      )
      .orderBy(asc(column))
      .limit(limit)
  const found = [...(await walk(users.usernameKey)), ...(await walk(users.emailKey))]
  const userById = new Map(found.map((user) => [user.userId, user]))
  return Array.from(userById.values()).slice(0, limit)
}

/** Who waits for an account with that address waits no more: however this one came about, it is first. */
export async function insertUser(queries: Queries, row: UserRow): Promise<void> {
  await refuseTaken(insert(queries, row), UNIQUE)
  await deleteSignUpOf(queries, row.tenantId, row.emailKey)
}

export async function updateUser(
  queries: Queries,
  tenantId: string,
  userId: string,
  changes: UserChanges,
): Promise<void> {
  await refuseTaken(update(queries, tenantId, userId, changes), UNIQUE)
  if (changes.emailKey !== undefined) await deleteSignUpOf(queries, tenantId, changes.emailKey)
}

export const deleteUser = deleteBy(schema.users, 'tenantId', 'userId')

export async function trialUsersBefore(queries: Queries, beforeMs: number, limit: number) {
  const { userId, tenantId, createdAt } = schema.users
  return await queries
    .select({ userId, tenantId })
    .from(schema.users)
    .where(and(gte(userId, TRIAL_PREFIX), lt(userId, BEHIND_TRIALS), lt(createdAt, beforeMs)))
    .limit(limit)
}
