/** What the OpenID Connect provider of a realm keeps: sessions, grants, codes, interactions. */
import { and, desc, eq, gt, inArray, isNotNull, isNull } from 'drizzle-orm'
import { schema } from '../schema.ts'
import type { Queries } from '../sqlite.ts'

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

/** Who opened it stays, until it is answered: then it counts among the open ones no more. */
export async function upsertRecord(
  queries: Queries,
  record: RealmRecord,
  isAnswered = false,
): Promise<void> {
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
      set: isAnswered ? { ...rest, openedBy: null } : rest,
    })
}

export async function findRecord(queries: Queries, key: RecordKey, nowMs: number) {
  const [record] = await queries
    .select()
    .from(realmRecords)
    .where(and(isRecord(key), gt(realmRecords.expiresAt, nowMs)))
  return record
}

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

const SURPLUS_AT_ONCE = 200

/** Of the records that are still open, those beyond the newest `most` go: of one address, or of all. */
export async function deleteSurplusOpen(
  queries: Queries,
  { tenantId, model, openedBy }: Pick<RealmRecord, 'tenantId' | 'model' | 'openedBy'>,
  most: number,
): Promise<void> {
  const isOpen = and(
    eq(realmRecords.tenantId, tenantId),
    eq(realmRecords.model, model),
    openedBy === null ? isNotNull(realmRecords.openedBy) : eq(realmRecords.openedBy, openedBy),
    isNull(realmRecords.consumedAt),
  )
  const surplus = await queries
    .select({ idHash: realmRecords.idHash })
    .from(realmRecords)
    .where(isOpen)
    .orderBy(desc(realmRecords.expiresAt))
    .limit(SURPLUS_AT_ONCE)
    .offset(most)
  if (surplus.length === 0) return
  const hashes = surplus.map(({ idHash }) => idHash)
  // by their primary key and nothing else: the planner would read all that are open for the rest
  await queries
    .delete(realmRecords)
    .where(
      and(
        eq(realmRecords.tenantId, tenantId),
        eq(realmRecords.model, model),
        inArray(realmRecords.idHash, hashes),
      ),
    )
}
