/** What the OpenID Connect provider of a realm keeps: sessions, grants, codes, interactions. */
import {
  and,
  count,
  desc,
  eq,
  getTableColumns,
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
import { deleteBy, given, insertingInto, preparedBy } from '../statements.ts'

const { realmRecords } = schema

export type RealmRecord = typeof realmRecords.$inferSelect

/** The primary key of one record. */
export interface RecordKey {
  readonly tenantId: string
  readonly model: string
  readonly idHash: string
}

const { tenantId, model, idHash, accountId, openedBy, consumedAt, expiresAt } = realmRecords
const target = [tenantId, model, idHash]
const ofModel = [eq(tenantId, given(tenantId, 'tenantId')), eq(model, given(model, 'model'))]
const isRecord = and(...ofModel, eq(idHash, given(idHash, 'idHash')))

const KEPT: ReadonlySet<string> = new Set(['tenantId', 'model', 'idHash', 'openedBy'])

/** Who opened it stays. */
export const upsertRecord = upserting({})

/**
 * A sign-in that goes on. Whoever has answered it has it among theirs, and it counts among the open
 * ones no more; so it stays when they begin again with the password.
 */
export async function upsertSignIn(queries: Queries, record: RealmRecord): Promise<void> {
  await (record.accountId === null ? upsertUnanswered : upsertAnswered)(queries, record)
}

const upsertAnswered = upserting({ openedBy: null })
const upsertUnanswered = upserting({ accountId: sql`${accountId}` })

function upserting(instead: { openedBy?: null; accountId?: SQL }) {
  const columns = Object.entries(getTableColumns(realmRecords)).filter(([name]) => !KEPT.has(name))
  const set = columns.map(([name, column]) => [name, sql.raw(`excluded.${column.name}`)] as const)
  return insertingInto(realmRecords, { target, set: { ...Object.fromEntries(set), ...instead } })
}

export async function findRecord(queries: Queries, key: RecordKey, nowMs: number) {
  return (await findAlive(queries, { ...key, nowMs }))[0]
}

const isAlive = gt(expiresAt, sql.placeholder('nowMs'))

const findAlive = preparedBy((queries) =>
  queries.select().from(realmRecords).where(and(isRecord, isAlive)),
)

export async function findRecordByUid(
  queries: Queries,
  key: Omit<RecordKey, 'idHash'> & { uidHash: string },
  nowMs: number,
) {
  return (await findByUid(queries, { ...key, nowMs }))[0]
}

const isOfUid = eq(realmRecords.uidHash, given(realmRecords.uidHash, 'uidHash'))

const findByUid = preparedBy((queries) =>
  queries
    .select()
    .from(realmRecords)
    .where(and(...ofModel, isOfUid, isAlive)),
)

/** Answers the record to exactly one of all who ask, however many ask at once. */
export async function consumeRecord(queries: Queries, key: RecordKey, nowMs: number) {
  return (await consume(queries, { ...key, nowMs }))[0]
}

const consume = preparedBy((queries) =>
  queries
    .update(realmRecords)
    .set({ consumedAt: sql`${sql.placeholder('nowMs')}` })
    .where(and(isRecord, isNull(consumedAt)))
    .returning(),
)

/** Marks as consumed and lets go by `expiresAt`. */
export async function retireRecord(
  queries: Queries,
  key: RecordKey,
  consumedAt: number,
  expiresAt: number,
): Promise<void> {
  await retire(queries, { ...key, consumedAt, expiresAt })
}

const retire = preparedBy<unknown>((queries) =>
  queries
    .update(realmRecords)
    .set({
      consumedAt: sql`${sql.placeholder('consumedAt')}`,
      expiresAt: sql`${sql.placeholder('expiresAt')}`,
    })
    .where(isRecord),
)

export async function deleteRecord(queries: Queries, key: RecordKey): Promise<void> {
  await deleteByKey(queries, key.tenantId, key.model, key.idHash)
}

const deleteByKey = deleteBy(realmRecords, 'tenantId', 'model', 'idHash')

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
  opened: Opened,
  most: number,
): Promise<void> {
  const surplus = opened.openedBy === null ? surplusOfAll : surplusOfOpener
  await deleteSurplus(queries, opened, surplus, most)
}

const endsLast = desc(expiresAt)
const isOpenersOwn = eq(openedBy, given(openedBy, 'openedBy'))
const surplusOfOpener = surplusOf(and(isOpenersOwn, isNull(consumedAt)), endsLast)
const isNobodys = and(isNotNull(openedBy), notLike(openedBy, `${PERSON}%`))
const surplusOfAll = surplusOf(and(isNobodys, isNull(consumedAt)), endsLast)

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
  account: Pick<RealmRecord, 'tenantId' | 'model' | 'accountId'>,
  most: number,
): Promise<void> {
  if (account.accountId === null) return
  await deleteSurplus(queries, account, surplusOfAccount, most)
}

// As they came, not as they end: how long they live follows a setting, and the newest is needed.
const isTheirs = eq(accountId, given(accountId, 'accountId'))
const surplusOfAccount = surplusOf(isTheirs, sql`rowid DESC`)

function surplusOf(areMeant: SQL | undefined, newestFirst: SQL) {
  return preparedBy((queries) =>
    queries
      .select({ idHash })
      .from(realmRecords)
      .where(and(...ofModel, areMeant))
      .orderBy(newestFirst)
      .limit(SURPLUS_AT_ONCE)
      .offset(sql.placeholder('most')),
  )
}

async function deleteSurplus(
  queries: Queries,
  whose: Pick<RealmRecord, 'tenantId' | 'model'>,
  find: typeof surplusOfAll,
  most: number,
) {
  const surplus = await find(queries, { ...whose, most })
  if (surplus.length === 0) return
  const isOfModel = and(eq(tenantId, whose.tenantId), eq(model, whose.model))
  const hashes = surplus.map((one) => one.idHash)
  // by their primary key and nothing else: the planner would read all that are open for the rest
  await queries.delete(realmRecords).where(and(isOfModel, inArray(idHash, hashes)))
}
