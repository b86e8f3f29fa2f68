import { and, asc, eq, lte, notInArray, sql } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { allBy, findBy, upsertInto } from '../statements.ts'

const { hostnameProofs: proofs } = schema

export type HostnameProof = typeof proofs.$inferSelect

export const findHostnameProof = findBy(proofs, 'hostname')
export const hostnameProofsOf = allBy(proofs, ['tenantId'], asc(proofs.hostname))
export const putHostnameProof = upsertInto(
  proofs,
  ['hostname'],
  'tenantId',
  'token',
  'turn',
  'dueAt',
  'lookedAt',
  'missingSince',
  'misses',
)

/** The proof of a hostname goes with the hostname. */
export async function keepHostnameProofsOf(
  queries: Queries,
  tenantId: string,
  hostnames: readonly string[],
): Promise<void> {
  const isGone = hostnames.length === 0 ? undefined : notInArray(proofs.hostname, [...hostnames])
  await queries.delete(proofs).where(and(eq(proofs.tenantId, tenantId), isGone))
}

export async function dueHostnameProofs(queries: Queries, nowMs: number, limit: number) {
  return await queries
    .select()
    .from(proofs)
    .where(lte(proofs.dueAt, nowMs))
    .orderBy(asc(proofs.dueAt), asc(proofs.hostname))
    .limit(limit)
}

/** false: somebody else has looked, or it is gone. */
export async function advanceHostnameProof(
  queries: Queries,
  { hostname, tenantId, turn }: HostnameProof,
  changes: Partial<Omit<HostnameProof, 'hostname' | 'tenantId' | 'turn'>>,
): Promise<boolean> {
  const isAsRead = and(
    eq(proofs.hostname, hostname),
    eq(proofs.tenantId, tenantId),
    eq(proofs.turn, turn),
  )
  const rows = await queries
    .update(proofs)
    .set({ ...changes, turn: turn + 1 })
    .where(isAsRead)
    .returning({ one: sql`1` })
  return rows.length > 0
}

/** Of how many hostnames the proof is gone. */
export async function countMissingProofs(queries: Queries): Promise<number> {
  const [row] = await queries
    .select({ count: sql<number>`count(${proofs.missingSince})` })
    .from(proofs)
  return Number(row?.count ?? 0)
}
