import { and, desc, eq, gte, isNull } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteBefore, deleteBy, findBy, insertInto } from '../statements.ts'

const table = schema.accountTickets
export type TicketRow = typeof table.$inferSelect

const isOf = (tenantId: string, userId: string, purpose: TicketRow['purpose']) =>
  and(eq(table.tenantId, tenantId), eq(table.userId, userId), eq(table.purpose, purpose))

export const insertTicket = insertInto(table)

export const findTicket = findBy(table, 'ticketHash')

/** The newest first. */
export async function ticketsOf(
  queries: Queries,
  tenantId: string,
  userId: string,
  purpose: TicketRow['purpose'],
  limit: number,
) {
  const { createdAt, expiresAt, usedAt } = table
  return await queries
    .select({ createdAt, expiresAt, usedAt })
    .from(table)
    .where(isOf(tenantId, userId, purpose))
    .orderBy(desc(createdAt))
    .limit(limit)
}

export async function countTicketsSince(
  queries: Queries,
  tenantId: string,
  userId: string,
  purpose: TicketRow['purpose'],
  sinceMs: number,
): Promise<number> {
  const areMeant = and(isOf(tenantId, userId, purpose), gte(table.createdAt, sinceMs))
  return await queries.$count(table, areMeant)
}

export async function spendTickets(
  queries: Queries,
  tenantId: string,
  userId: string,
  purpose: TicketRow['purpose'],
  usedAt: number,
): Promise<void> {
  const areOpen = and(isOf(tenantId, userId, purpose), isNull(table.usedAt))
  await queries.update(table).set({ usedAt }).where(areOpen)
}

export async function spendTicket(
  queries: Queries,
  ticketHash: string,
  usedAt: number,
): Promise<void> {
  const isOpen = and(eq(table.ticketHash, ticketHash), isNull(table.usedAt))
  await queries.update(table).set({ usedAt }).where(isOpen)
}

/** Every link that the person was sent is void; how many they were sent stays known. */
export async function voidTickets(
  queries: Queries,
  tenantId: string,
  userId: string,
  usedAt: number,
): Promise<void> {
  await queries
    .update(table)
    .set({ usedAt })
    .where(and(eq(table.tenantId, tenantId), eq(table.userId, userId), isNull(table.usedAt)))
}

export const deleteTicketsOf = deleteBy(table, 'tenantId', 'userId')

export const deleteTicketsExpiredBefore = deleteBefore(table.expiresAt)
