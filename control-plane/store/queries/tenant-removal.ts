/** The end of a tenant: what goes at once, and what is left behind, which may be a great deal. */
import { asc, eq } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { isOneOf } from '../statements.ts'

const { tenantTombstones: tombstones } = schema

/**
 * All that a tenant is known by, served by and decided by: without it nobody comes to the rest. Each has
 * a small limit, or this one change would hold up everybody else.
 */
const AT_ONCE = [
  schema.tenantHostnames,
  schema.tenantCertificates,
  schema.acmeOrders,
  schema.hostnameClaims,
  schema.hostnameProofs,
  schema.signingKeys,
  schema.signInTrials,
  schema.tenantPolicies,
  schema.accessRules,
  schema.userDirectories,
  schema.webhooks,
  schema.alerts,
  schema.alertRecipients,
  schema.consoleInvitations,
  schema.deviceCodes,
  schema.connectorTokens,
  schema.connectors,
  schema.connections,
  schema.connectionDomains,
  schema.samlConnections,
  schema.scimTokens,
  schema.services,
  schema.realmClients,
] as const

/**
 * What may be very much; who may come into the console first, then mails, as they are
 * still on their way. What it has added to the figures of all is not among them: it has been taken over
 * within a minute.
 */
const LEFT_BEHIND = [
  schema.consoleRoles,
  schema.mails,
  schema.logoutNotices,
  schema.webhookEndings,
  schema.webhookAttempts,
  schema.webhookDeliveries,
  schema.webhookKept,
  schema.realmRecords,
  schema.sessions,
  schema.revocations,
  schema.accountTickets,
  schema.factors,
  schema.passwordHistory,
  schema.knownDevices,
  schema.groupMembers,
  schema.groups,
  schema.pastMembers,
  schema.personAttributes,
  schema.pastAttributes,
  schema.serviceAssertions,
  schema.serviceUses,
  schema.serviceSecrets,
  schema.connectorKeys,
  schema.deviceTickets,
  schema.accessRuleVersions,
  schema.enrolledDevices,
  schema.devicePostures,
  schema.deviceChallenges,
  schema.deviceTypedCodes,
  schema.connectionIdentities,
  schema.upstreamSessions,
  schema.upstreamLogouts,
  schema.clientSessions,
  schema.samlAnswers,
  schema.scimPeople,
  schema.scimGroups,
  schema.scimRequests,
  schema.signUps,
  schema.users,
  schema.addressBlocks,
  schema.signIns,
  schema.enforcementEvents,
  schema.feedInstances,
  schema.verificationChecks,
  schema.digests,
  schema.guides,
  schema.figures,
  schema.tenantRefusals,
  schema.outbox,
] as const

/**
 * The tombstone tells gateways that were away, and that there is something left behind. It stands
 * until somebody gets the id again.
 */
export async function deleteTenant(queries: Queries, tenantId: string, revision: number) {
  for (const table of [schema.tenants, ...AT_ONCE])
    await queries.delete(table).where(eq(table.tenantId, tenantId))
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

/**
 * Some of what a removed tenant has left, also what was under way and was written behind the last
 * slice; answers whether that was all. Only its audit trail stays, and what its analyses have
 * cost: that counts for the whole service on, and not for who has the id next.
 */
export async function deleteSomeLeftBehind(queries: Queries, tenantId: string, limit: number) {
  const isTombstone = eq(tombstones.tenantId, tenantId)
  const [tombstone] = await queries.select().from(tombstones).where(isTombstone)
  if (tombstone === undefined) return true // there is none of it, or somebody has the id again
  let room = limit
  for (const table of [...LEFT_BEHIND, ...AT_ONCE]) {
    const gone = await queries
      .delete(table)
      .where(isOneOf(queries, table, eq(table.tenantId, tenantId), room))
      .returning({ tenantId: table.tenantId })
    room -= gone.length
    if (room === 0) break
  }
  if (room > 0) {
    const { analyses } = schema
    const kept = await queries
      .update(analyses)
      .set({ tenantId: '' })
      .where(isOneOf(queries, analyses, eq(analyses.tenantId, tenantId), room))
      .returning({ tenantId: analyses.tenantId })
    room -= kept.length
  }
  const isLeftBehind = room === 0
  if (tombstone.isLeftBehind !== isLeftBehind)
    await queries.update(tombstones).set({ isLeftBehind }).where(isTombstone)
  return !isLeftBehind
}
