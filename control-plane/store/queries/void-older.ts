/** What a database of an earlier time must not bring back to life. */
import { and, gt, isNull, lt, sql, type SQLiteColumn } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'

/** How many there were of each. */
export type Voided = Readonly<
  Record<'sessions' | 'links' | 'tickets' | 'devices' | 'consoleSessions', number>
>

/**
 * A code may have been used since then, a session ended, a ticket redeemed: nothing here knows. So
 * nobody stays signed in, and what lets somebody in once lets nobody in. Keys, passwords and second
 * factors are as they were.
 */
export async function voidOlder(queries: Queries, nowMs: number): Promise<Voided> {
  const { sessions, accountTickets, consoleInvitations, consoleLinks } = schema
  const { deviceTickets, connectorTokens, enrolledDevices, consoleSessions } = schema
  const isOpen = (expiresAt: SQLiteColumn) => gt(expiresAt, nowMs)

  const isAlive = and(isNull(sessions.endedAt), isOpen(sessions.expiresAt))
  const isUnused = (table: typeof accountTickets | typeof consoleLinks) =>
    and(isNull(table.usedAt), isOpen(table.expiresAt))
  const isInvited = isOpen(consoleInvitations.expiresAt)
  const hasUses = (table: typeof deviceTickets | typeof connectorTokens) =>
    and(gt(table.usesLeft, 0), isOpen(table.expiresAt))
  const voided: Voided = {
    sessions: await queries.$count(sessions, isAlive),
    links:
      (await queries.$count(accountTickets, isUnused(accountTickets))) +
      (await queries.$count(consoleLinks, isUnused(consoleLinks))) +
      (await queries.$count(consoleInvitations, isInvited)),
    tickets:
      (await queries.$count(deviceTickets, hasUses(deviceTickets))) +
      (await queries.$count(connectorTokens, hasUses(connectorTokens))),
    devices: await queries.$count(enrolledDevices, isNull(enrolledDevices.revokedAt)),
    consoleSessions: await queries.$count(consoleSessions, isOpen(consoleSessions.expiresAt)),
  }

  await queries.update(sessions).set({ endedAt: nowMs, endReason: 'restored' }).where(isAlive)
  await queries.delete(schema.realmRecords)
  await queries.delete(consoleSessions)
  await queries.delete(schema.deviceCodes)
  await queries.delete(schema.deviceChallenges)
  await queries.delete(schema.deviceTypedCodes)
  await queries.update(accountTickets).set({ usedAt: nowMs }).where(isUnused(accountTickets))
  await queries.update(consoleLinks).set({ usedAt: nowMs }).where(isUnused(consoleLinks))
  await queries.update(consoleInvitations).set({ expiresAt: nowMs }).where(isInvited)
  // their links open nothing any more
  await queries.delete(schema.mails).where(sql`${schema.mails.kind} = 'link'`)
  for (const table of [deviceTickets, connectorTokens])
    await queries.update(table).set({ usesLeft: 0 }).where(hasUses(table))
  // each is further than what is known of it, which is what a copied key looks like
  await queries.update(enrolledDevices).set({ turnedBy: '*', boots: [] })
  return voided
}

/** Of every tenant, and whatever sessions this database knows nothing of. */
export async function revokeEverybody(
  queries: Queries,
  { notBefore, nowMs }: { readonly notBefore: number; readonly nowMs: number },
): Promise<void> {
  const { revocations, tenants } = schema
  const times = { notBefore, createdAt: nowMs }
  const keptUntil = sql<number>`${nowMs} + ${tenants.maxSessionSeconds} * 1000`
  await queries
    .insert(revocations)
    .select(
      queries
        .select({
          tenantId: tenants.tenantId,
          kind: sql<'all'>`'all'`.as('kind'),
          target: sql<string>`''`.as('target'),
          notBefore: sql<number>`${notBefore}`.as('not_before'),
          createdAt: sql<number>`${nowMs}`.as('created_at'),
          keptUntil: keptUntil.as('kept_until'),
        })
        .from(tenants)
        .where(sql`true`), // else SQLite takes what follows for a join
    )
    .onConflictDoUpdate({
      target: [revocations.tenantId, revocations.kind, revocations.target],
      set: { ...times, keptUntil: sql`excluded.kept_until` },
      setWhere: lt(revocations.notBefore, notBefore),
    })
}
