/** Recorded sign-ins as lockout counts them, and the addresses that it blocks. */
import { and, desc, eq, gt, sql, type SQL } from '../drizzle.ts'
import type { AttemptReason } from '../../policy/verdict.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import {
  deleteBefore,
  findBy,
  given,
  insertingInto,
  preparedBy,
  upsertInto,
} from '../statements.ts'
import type { SignInRow } from './sign-ins.ts'

const { signIns, addressBlocks } = schema

export type AddressBlockRow = typeof addressBlocks.$inferSelect

export const insertSignIn = insertingInto(signIns)

/** The same once more: counted on the row that is there, where anybody could make rows without end. */
export async function countRepeated(queries: Queries, signInId: string): Promise<void> {
  await queries
    .update(signIns)
    .set({ repeated: sql`${signIns.repeated} + 1` })
    .where(eq(signIns.signInId, signInId))
}

const { tenantId, userId, loginHash, countedAs, site, at, ip, outcome, reason } = signIns
const [isOfTenant, isOfLogin, isOfAddress] = [
  eq(tenantId, given(tenantId, 'tenantId')),
  eq(loginHash, given(loginHash, 'loginHash')),
  eq(countedAs, given(countedAs, 'countedAs')),
]
const isFromKnown = eq(signIns.isKnownDevice, given(signIns.isKnownDevice, 'isKnownDevice'))
const isLater = gt(at, sql.placeholder('sinceMs'))
const limited = sql.placeholder('limit')

/** The newest `limit` failures after `sinceMs`, as milliseconds, oldest first. */
function failuresOf<Who extends object>(
  isMeant: SQL | undefined,
  isFailure = eq(signIns.isFailure, true),
) {
  const find = preparedBy((queries) =>
    queries
      .select({ at })
      .from(signIns)
      .where(and(isOfTenant, isMeant, isLater, isFailure))
      .orderBy(desc(at))
      .limit(limited),
  )
  return async (queries: Queries, who: Who, sinceMs: number, limit: number): Promise<number[]> => {
    const rows = await find(queries, { ...who, sinceMs, limit })
    return rows.map((row) => row.at).reverse()
  }
}

export const failuresOfLogin = failuresOf<
  Pick<SignInRow, 'tenantId' | 'loginHash' | 'isKnownDevice'>
>(and(isOfLogin, isFromKnown))

export const failuresOfAddress = failuresOf<Pick<SignInRow, 'tenantId' | 'countedAs'>>(isOfAddress)

/** The same of a whole site; `is_failure = 1` is what its index holds, as it stands. */
export const failuresOfSite = failuresOf<{ readonly tenantId: string; readonly site: string }>(
  eq(site, given(site, 'site')),
  sql`${signIns.isFailure} = 1`,
)

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
    ? [refusalsOfAddress(queries, { ...same, sinceMs })]
    : [true, false].map((isKnownDevice) =>
        refusalsOfLogin(queries, { ...same, sinceMs, isKnownDevice }),
      )
  const rows = (await Promise.all(who)).flat().map((row) => {
    return { signInId: row.signInId, isFromThere: row.countedAs === same.countedAs }
  })
  return rows.find(({ isFromThere }) => isFromThere) ?? rows[0]
}

const refusalsOfAddress = refusalsOf(isOfAddress)
const refusalsOfLogin = refusalsOf(and(isOfLogin, isFromKnown))

function refusalsOf(isSame: SQL | undefined) {
  return preparedBy((queries) =>
    queries
      .select({ signInId: signIns.signInId, countedAs })
      .from(signIns)
      .where(
        and(
          isOfTenant,
          isSame,
          eq(signIns.isFailure, false), // no refusal is one, and failures have the indexes
          isLater,
          eq(reason, given(reason, 'reason')),
          eq(outcome, 'refused'),
        ),
      )
      .orderBy(desc(isOfAddress))
      .limit(1),
  )
}

/** The addresses from which a person has signed in, newest first. */
export async function addressesOfUser(
  queries: Queries,
  tenantId: string,
  userId: string,
  sinceMs: number,
  limit: number,
): Promise<string[]> {
  const rows = await findAddresses(queries, { tenantId, userId, sinceMs, limit })
  return rows.map((row) => row.ip)
}

const findAddresses = preparedBy((queries) =>
  queries
    .select({ ip })
    .from(signIns)
    .where(and(isOfTenant, eq(userId, given(userId, 'userId')), isLater, eq(outcome, 'signed_in')))
    .orderBy(desc(at))
    .limit(limited),
)

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
