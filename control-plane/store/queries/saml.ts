import { and, asc, eq, gt, isNotNull, lt, lte, sql } from '../drizzle.ts'
import type { Queries } from '../engine.ts'
import { schema } from '../schema.ts'
import { allBy, deleteBefore, findBy, insertInto, isOneOf, updateBy } from '../statements.ts'

const { samlConnections: connections, samlAnswers: answers } = schema

export type SamlConnectionRow = typeof connections.$inferSelect
type SamlAnswerRow = typeof answers.$inferSelect

export const insertSamlConnection = insertInto(connections)
export const findSamlConnection = findBy(connections, 'tenantId', 'connectionId')
export const samlConnectionsOf = allBy(connections, ['tenantId'], asc(connections.connectionId))
export const updateSamlConnection = updateBy(connections, 'tenantId', 'connectionId')

/** Whose metadata is to be read anew, the longest overdue first. */
export async function dueSamlConnections(
  queries: Queries,
  nowMs: number,
  limit: number,
): Promise<SamlConnectionRow[]> {
  return await queries
    .select()
    .from(connections)
    .where(lte(connections.metadataDueAt, nowMs))
    .orderBy(asc(connections.metadataDueAt), asc(connections.connectionId))
    .limit(limit)
}

/** False: this assertion has been here, whatever has become of it. The primary key says so. */
export async function insertSamlAnswer(queries: Queries, row: SamlAnswerRow): Promise<boolean> {
  const made = await queries
    .insert(answers)
    .values(row)
    .onConflictDoNothing({ target: [answers.connectionId, answers.assertionHash] })
    .returning({ one: sql`1` })
  return made.length > 0
}

/** What it says, once and for the browser that asked; the row stays, so that it comes no second time. */
export async function takeSamlAnswer(
  queries: Queries,
  {
    tenantId,
    connectionId,
    answerHash,
    stateHash,
  }: Pick<SamlAnswerRow, 'tenantId' | 'connectionId' | 'answerHash' | 'stateHash'>,
  nowMs: number,
): Promise<SamlAnswerRow['claims']> {
  const isMeant = and(
    eq(answers.answerHash, answerHash),
    eq(answers.tenantId, tenantId),
    eq(answers.connectionId, connectionId),
    eq(answers.stateHash, stateHash),
    gt(answers.answerUntil, nowMs),
  )
  const [row] = await queries.select().from(answers).where(isMeant)
  if (row === undefined) return null
  const taken = await queries
    .update(answers)
    .set({ claims: null, answerUntil: 0 })
    .where(isMeant)
    .returning({ one: sql`1` })
  return taken.length > 0 ? row.claims : null
}

/** What nobody has come for is kept no longer than that: its id alone is needed until the assertion ends. */
export async function forgetSamlClaimsBefore(queries: Queries, beforeMs: number, limit: number) {
  const isLeft = and(isNotNull(answers.claims), lt(answers.answerUntil, beforeMs))
  const forgotten = await queries
    .update(answers)
    .set({ claims: null })
    .where(isOneOf(queries, answers, isLeft, limit))
    .returning({ one: sql`1` })
  return forgotten.length
}

export const deleteSamlAnswersEndedBefore = deleteBefore(answers.endsAt)
