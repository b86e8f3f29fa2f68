/** What the OpenID Connect provider of a realm keeps: sessions, grants, codes, interactions. */
import {
  and,
  count,
  desc,
  eq,
  gt,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  notLike,
  sql,
  type SQL,
} from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { preparedBy } from '../statements.ts'

const { realmRecords } = schema

export type RealmRecord = typeof realmRecords.$inferSelect

/** The primary key of one record. */
export interface RecordKey {
  readonly tenantId: string
  readonly model: string
  readonly idHash: string
}

function isRecord(key: RecordKey) {
  return and(
    eq(realmRecords.tenantId, key.tenantId),
    eq(realmRecords.model, key.model),
    eq(realmRecords.idHash, key.idHash),
  )
}

/** Who opened it stays. */
export async function upsertRecord(queries: Queries, record: RealmRecord): Promise<void> {
  await upsert(queries, record, {})
}

/**
 * A sign-in that goes on. Whoever has answered it has it among theirs, and it counts among the open
 * ones no more; so it stays when they begin again with the password.
 */
export async function upsertSignIn(queries: Queries, record: RealmRecord): Promise<void> {
  const isAnswered = record.accountId !== null
  await upsert(
    queries,
    record,
    isAnswered ? { openedBy: null } : { accountId: sql`${realmRecords.accountId}` },
  )
}

async function upsert(
  queries: Queries,
  record: RealmRecord,
  instead: { openedBy?: null; accountId?: SQL },
) {
  const {
    tenantId: _tenantId,
    model: _model,
    idHash: _idHash,
    openedBy: _openedBy,
    ...rest
  } = record
  await queries
    .insert(realmRecords)
    .values(record)
    .onConflictDoUpdate({
      target: [realmRecords.tenantId, realmRecords.model, realmRecords.idHash],
      set: { ...rest, ...instead },
    })
}

export async function findRecord(queries: Queries, key: RecordKey, nowMs: number) {
  return (await findAlive(queries, { ...key, nowMs }))[0]
}

const findAlive = preparedBy((queries) =>
  queries
    .select()
    .from(realmRecords)
    .where(
      and(
        eq(realmRecords.tenantId, sql.placeholder('tenantId')),
        eq(realmRecords.model, sql.placeholder('model')),
        eq(realmRecords.idHash, sql.placeholder('idHash')),
        gt(realmRecords.expiresAt, sql.placeholder('nowMs')),
      ),
    ),
)

export async function findRecordByUid(
  queries: Queries,
  key: Omit<RecordKey, 'idHash'> & { uidHash: string },
  nowMs: number,
) {
  const [record] = await queries
    .select()
    .from(realmRecords)
    .where(
      and(
        eq(realmRecords.tenantId, key.tenantId),
        eq(realmRecords.uidHash, key.uidHash),
        eq(realmRecords.model, key.model),
        gt(realmRecords.expiresAt, nowMs),
      ),
    )
  return record
}

/** Answers the record to exactly one of all who ask, however many ask at once. */
export async function consumeRecord(queries: Queries, key: RecordKey, nowMs: number) {
  const [record] = await queries
    .update(realmRecords)
    .set({ consumedAt: nowMs })
    .where(and(isRecord(key), isNull(realmRecords.consumedAt)))
    .returning()
  return record
}

/** Marks as consumed and lets go by `expiresAt`. */
export async function retireRecord(
  queries: Queries,
  key: RecordKey,
  consumedAt: number,
  expiresAt: number,
): Promise<void> {
  await queries.update(realmRecords).set({ consumedAt, expiresAt }).where(isRecord(key))
}

export async function deleteRecord(queries: Queries, key: RecordKey): Promise<void> {
  await queries.delete(realmRecords).where(isRecord(key))
}

/** Everything that a grant has led to, of every model; answers what it was. */
export async function deleteRecordsOfGrant(queries: Queries, tenantId: string, grantId: string) {
  return queries
    .delete(realmRecords)
    .where(and(eq(realmRecords.tenantId, tenantId), eq(realmRecords.grantId, grantId)))
    .returning({ model: realmRecords.model, sid: realmRecords.sid })
}

/** The sessions of a person that the realm knows, with or without a token made for them. */
export async function sidsOfAccount(queries: Queries, tenantId: string, accountId: string) {
  const rows = await queries
    .select({ sid: realmRecords.sid })
    .from(realmRecords)
    .where(and(eq(realmRecords.tenantId, tenantId), eq(realmRecords.accountId, accountId)))
  return [...new Set(rows.flatMap(({ sid }) => sid ?? []))]
}

/** The second click at a sign-in of whoever this session is of: it would open another one. */
export async function deleteFinishedSignInsBehind(queries: Queries, tenantId: string, sid: string) {
  const ofSession = await queries
    .select({ accountId: realmRecords.accountId })
    .from(realmRecords)
    .where(and(eq(realmRecords.tenantId, tenantId), eq(realmRecords.sid, sid)))
  const accountIds = new Set(ofSession.flatMap(({ accountId }) => accountId ?? []))
  for (const accountId of accountIds)
    await queries
      .delete(realmRecords)
      .where(
        and(
          eq(realmRecords.tenantId, tenantId),
          eq(realmRecords.accountId, accountId),
          eq(realmRecords.model, 'Interaction'),
          isNotNull(realmRecords.consumedAt),
        ),
      )
}

const SURPLUS_AT_ONCE = 200
/** Whose count a sign-in is on that was opened by a browser or session of a person. */
const PERSON = 'person '
export const openedByPerson = (userId: string) => PERSON + userId

type Opened = Pick<RealmRecord, 'tenantId' | 'model' | 'openedBy'>

/**
 * Of the records that are still open, those beyond the newest `most` go: of one opener, or of all
 * that are nobody's. What people have opened counts for each of them alone.
 */
export async function deleteSurplusOpen(
  queries: Queries,
  { tenantId, model, openedBy }: Opened,
  most: number,
): Promise<void> {
  const isOpen = and(
    openedBy === null
      ? and(isNotNull(realmRecords.openedBy), notLike(realmRecords.openedBy, `${PERSON}%`))
      : eq(realmRecords.openedBy, openedBy),
    isNull(realmRecords.consumedAt),
  )
  await deleteSurplus(queries, { tenantId, model }, isOpen, desc(realmRecords.expiresAt), most)
}

/** Up to where all networks of a site agree: `2001:db8:1:` of `2001:db8:1:2::/64`. */
const SITE = /^((?:[0-9a-f]+:){3})[0-9a-f]+::\/64$/

/**
 * A site has many networks, and only so many open over all of them: those of whichever has the most
 * go first, so that a neighbour's stay.
 */
export async function deleteSurplusOfSite(
  queries: Queries,
  { tenantId, model, openedBy }: Opened,
  most: number,
): Promise<void> {
  const [, site] = SITE.exec(openedBy ?? '') ?? []
  if (site === undefined) return
  const networks = await queries
    .select({ openedBy: realmRecords.openedBy, count: count() })
    .from(realmRecords)
    .where(
      and(
        eq(realmRecords.tenantId, tenantId),
        eq(realmRecords.model, model),
        gte(realmRecords.openedBy, site),
        lt(realmRecords.openedBy, `${site.slice(0, -1)};`), // which is next to a colon
        isNull(realmRecords.consumedAt),
      ),
    )
    .groupBy(realmRecords.openedBy)
  const surplus = networks.reduce((sum, one) => sum + one.count, 0) - most
  if (surplus <= 0) return
  const largest = networks.reduce((one, other) => (other.count > one.count ? other : one))
  await deleteSurplusOpen(
    queries,
    { tenantId, model, openedBy: largest.openedBy },
    largest.count - Math.min(surplus, largest.count),
  )
}

/** The same of what is one person's, finished sign-ins among it. */
export async function deleteSurplusOfAccount(
  queries: Queries,
  { tenantId, model, accountId }: Pick<RealmRecord, 'tenantId' | 'model' | 'accountId'>,
  most: number,
): Promise<void> {
  if (accountId === null) return
  const isTheirs = eq(realmRecords.accountId, accountId)
  // As they came, not as they end: how long they live follows a setting, and the newest is needed.
  await deleteSurplus(queries, { tenantId, model }, isTheirs, sql`rowid DESC`, most)
}

async function deleteSurplus(
  queries: Queries,
  { tenantId, model }: Pick<RealmRecord, 'tenantId' | 'model'>,
  areMeant: SQL | undefined,
  newestFirst: SQL,
  most: number,
) {
  const isOfModel = and(eq(realmRecords.tenantId, tenantId), eq(realmRecords.model, model))
  const surplus = await queries
    .select({ idHash: realmRecords.idHash })
    .from(realmRecords)
    .where(and(isOfModel, areMeant))
    .orderBy(newestFirst)
    .limit(SURPLUS_AT_ONCE)
    .offset(most)
  if (surplus.length === 0) return
  const hashes = surplus.map(({ idHash }) => idHash)
  // by their primary key and nothing else: the planner would read all that are open for the rest
  await queries.delete(realmRecords).where(and(isOfModel, inArray(realmRecords.idHash, hashes)))
}
