/** Recorded sign-ins as lockout counts them, and the addresses that it blocks. */
import { and, desc, eq, gt, sql, type SQL } from '../drizzle.ts'
import type { AttemptReason } from '../../policy/verdict.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteBefore, findBy, upsertInto } from '../statements.ts'
import type { SignInRow } from './sign-ins.ts'

const { signIns, addressBlocks } = schema

export type AddressBlockRow = typeof addressBlocks.$inferSelect

type NewSignIn = typeof signIns.$inferInsert

export async function insertSignIn(queries: Queries, row: NewSignIn): Promise<void> {
  await queries.insert(signIns).values(row)
}

/** The same once more: counted on the row that is there, where anybody could make rows without end. */
export async function countRepeated(queries: Queries, signInId: string): Promise<void> {
  await queries
    .update(signIns)
    .set({ repeated: sql`${signIns.repeated} + 1` })
    .where(eq(signIns.signInId, signInId))
}

/** The newest `limit` failures after `sinceMs`, as milliseconds, oldest first. */
async function failuresWhere(
  queries: Queries,
  isMeant: SQL | undefined,
  sinceMs: number,
  limit: number,
  isFailure = eq(signIns.isFailure, true),
): Promise<number[]> {
  const rows = await queries
    .select({ at: signIns.at })
    .from(signIns)
    .where(and(isMeant, gt(signIns.at, sinceMs), isFailure))
    .orderBy(desc(signIns.at))
    .limit(limit)
  return rows.map(({ at }) => at).reverse()
}

export async function failuresOfLogin(
  queries: Queries,
  who: Pick<SignInRow, 'tenantId' | 'loginHash' | 'isKnownDevice'>,
  sinceMs: number,
  limit: number,
): Promise<number[]> {
  const isMeant = and(
    eq(signIns.tenantId, who.tenantId),
    eq(signIns.loginHash, who.loginHash),
    eq(signIns.isKnownDevice, who.isKnownDevice),
  )
  return failuresWhere(queries, isMeant, sinceMs, limit)
}

export async function failuresOfAddress(
  queries: Queries,
  from: Pick<SignInRow, 'tenantId' | 'countedAs'>,
  sinceMs: number,
  limit: number,
): Promise<number[]> {
  const { tenantId, countedAs } = from
  const isMeant = and(eq(signIns.tenantId, tenantId), eq(signIns.countedAs, countedAs))
  return failuresWhere(queries, isMeant, sinceMs, limit)
}

/** The same of a whole site; `is_failure = 1` is what its index holds, as it stands. */
export async function failuresOfSite(
  queries: Queries,
  { tenantId, site }: { readonly tenantId: string; readonly site: string },
  sinceMs: number,
  limit: number,
): Promise<number[]> {
  const isMeant = and(eq(signIns.tenantId, tenantId), eq(signIns.site, site))
  return failuresWhere(queries, isMeant, sinceMs, limit, sql`${signIns.isFailure} = 1`)
}

/** Whatever name is typed there: names cost nothing to invent. */
const OF_ADDRESSES: ReadonlySet<string> = new Set<AttemptReason>([
  'address_blocked',
  'address_unreadable',
  'network_denied',
  'network_not_allowed',
])

const OF_LOGINS: ReadonlySet<string> = new Set<AttemptReason>(['user_paused', 'too_many_sign_ins'])

/** What is refused again and again, whatever is tried: more of it says nothing more. */
export const mayRepeat = (reason: string): boolean =>
  OF_ADDRESSES.has(reason) || OF_LOGINS.has(reason)

/** Whether the same was refused for the same reason a moment ago, and has been told of. */
export async function wasRefusedSince(
  queries: Queries,
  same: Pick<SignInRow, 'tenantId' | 'loginHash' | 'countedAs' | 'reason'>,
  sinceMs: number,
): Promise<{ readonly signInId: string; readonly isFromThere: boolean } | undefined> {
  const who = OF_ADDRESSES.has(same.reason)
    ? [eq(signIns.countedAs, same.countedAs)]
    : [true, false].map((isKnown) =>
        and(eq(signIns.loginHash, same.loginHash), eq(signIns.isKnownDevice, isKnown)),
      )
  const found = who.map((isSame) =>
    queries
      .select({ signInId: signIns.signInId, countedAs: signIns.countedAs })
      .from(signIns)
      .where(
        and(
          eq(signIns.tenantId, same.tenantId),
          isSame,
          eq(signIns.isFailure, false), // no refusal is one, and failures have the indexes
          gt(signIns.at, sinceMs),
          eq(signIns.reason, same.reason),
          eq(signIns.outcome, 'refused'),
        ),
      )
      .orderBy(desc(eq(signIns.countedAs, same.countedAs)))
      .limit(1),
  )
  const rows = (await Promise.all(found)).flat().map(({ signInId, countedAs }) => {
    return { signInId, isFromThere: countedAs === same.countedAs }
  })
  return rows.find(({ isFromThere }) => isFromThere) ?? rows[0]
}

/** The addresses from which a person has signed in, newest first. */
export async function addressesOfUser(
  queries: Queries,
  tenantId: string,
  userId: string,
  sinceMs: number,
  limit: number,
): Promise<string[]> {
  const rows = await queries
    .select({ ip: signIns.ip })
    .from(signIns)
    .where(
      and(
        eq(signIns.tenantId, tenantId),
        eq(signIns.userId, userId),
        gt(signIns.at, sinceMs),
        eq(signIns.outcome, 'signed_in'),
      ),
    )
    .orderBy(desc(signIns.at))
    .limit(limit)
  return rows.map(({ ip }) => ip)
}

export const deleteSignInsBefore = deleteBefore(signIns.at)

export const findAddressBlock = findBy(addressBlocks, 'tenantId', 'address')

/** A block that begins again keeps the time before which nothing counts. */
export const upsertAddressBlock = upsertInto(
  addressBlocks,
  ['tenantId', 'address'],
  'failures',
  'createdAt',
  'blockedUntil',
)

/** Answers the row if the address was blocked. */
export async function liftAddressBlock(
  queries: Queries,
  tenantId: string,
  address: string,
  nowMs: number,
) {
  const [row] = await queries
    .update(addressBlocks)
    .set({ liftedAt: nowMs, blockedUntil: nowMs })
    .where(
      and(
        eq(addressBlocks.tenantId, tenantId),
        eq(addressBlocks.address, address),
        gt(addressBlocks.blockedUntil, nowMs),
      ),
    )
    .returning()
  return row
}

export async function addressBlocksAfter(
  queries: Queries,
  tenantId: string,
  address: string,
  nowMs: number,
  limit: number,
): Promise<AddressBlockRow[]> {
  return await queries
    .select()
    .from(addressBlocks)
    .where(
      and(
        eq(addressBlocks.tenantId, tenantId),
        gt(addressBlocks.address, address),
        gt(addressBlocks.blockedUntil, nowMs),
      ),
    )
    .orderBy(addressBlocks.address)
    .limit(limit)
}

/** Blocks that are over, once no failure from before their lifting counts any more. */
export const deleteAddressBlocksBefore = deleteBefore(addressBlocks.blockedUntil)
