/** The end of a tenant: what goes at once, and what is left behind, which may be a great deal. */
import { asc, eq, sql } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../sqlite.ts'

const { tenantTombstones: tombstones } = schema

/** All that a tenant is known by, served by and decided by: without it nobody comes to the rest. */
const AT_ONCE = [
  schema.tenants,
  schema.tenantHostnames,
  schema.tenantCertificates,
  schema.signingKeys,
  schema.verificationChecks,
  schema.tenantPolicies,
  schema.userDirectories,
  schema.feedInstances,
  schema.webhooks,
  schema.webhookEndings,
  schema.alerts,
  schema.digests,
  schema.guides,
  schema.consoleRoles,
  schema.consoleInvitations,
] as const

/** What it has been writing ever since; mails first, as they are still on their way. */
const LEFT_BEHIND = [
  schema.mails,
  schema.logoutNotices,
  schema.webhookAttempts,
  schema.webhookDeliveries,
  schema.realmRecords,
  schema.sessions,
  schema.revocations,
  schema.accountTickets,
  schema.factors,
  schema.passwordHistory,
  schema.knownDevices,
  schema.users,
  schema.addressBlocks,
  schema.signIns,
  schema.enforcementEvents,
  schema.figures,
  schema.tenantRefusals,
  schema.outbox,
] as const

/** The tombstone tells gateways that were away, and that there is something left behind. */
export async function deleteTenant(
  queries: Queries,
  tenantId: string,
  revision: number,
): Promise<void> {
  for (const table of AT_ONCE) await queries.delete(table).where(eq(table.tenantId, tenantId))
  const set = { revision, isLeftBehind: true }
  await queries
    .insert(tombstones)
    .values({ tenantId, ...set })
    .onConflictDoUpdate({ target: tombstones.tenantId, set })
}

/** A removed tenant of which something is left. */
export async function findLeftBehind(queries: Queries): Promise<string | undefined> {
  const [row] = await queries
    .select({ tenantId: tombstones.tenantId })
    .from(tombstones)
    .where(eq(tombstones.isLeftBehind, true))
    .orderBy(asc(tombstones.tenantId))
    .limit(1)
  return row?.tenantId
}

export async function isLeftBehind(queries: Queries, tenantId: string): Promise<boolean> {
  const [row] = await queries
    .select({ isLeftBehind: tombstones.isLeftBehind })
    .from(tombstones)
    .where(eq(tombstones.tenantId, tenantId))
  return row?.isLeftBehind ?? false
}

/**
 * Some of what a removed tenant has left. Only its audit trail stays, and what its analyses have
 * cost: that counts for the whole service on, and not for who has the id next.
 */
export async function deleteSomeLeftBehind(
  queries: Queries,
  tenantId: string,
  limit: number,
): Promise<void> {
  if (!(await isLeftBehind(queries, tenantId))) return // somebody else was faster
  let room = limit
  for (const table of LEFT_BEHIND) {
    const some = sql`(SELECT rowid FROM ${table} WHERE ${table.tenantId} = ${tenantId} LIMIT ${room})`
    const gone = await queries
      .delete(table)
      .where(sql`rowid IN ${some}`)
      .returning({ tenantId: table.tenantId })
    room -= gone.length
    if (room === 0) return
  }
  const { analyses } = schema
  const some = sql`(SELECT rowid FROM ${analyses} WHERE ${analyses.tenantId} = ${tenantId}
    LIMIT ${room})`
  const kept = await queries
    .update(analyses)
    .set({ tenantId: '' })
    .where(sql`rowid IN ${some}`)
    .returning({ tenantId: analyses.tenantId })
  if (kept.length === room) return
  await queries
    .update(tombstones)
    .set({ isLeftBehind: false })
    .where(eq(tombstones.tenantId, tenantId))
}
