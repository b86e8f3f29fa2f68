import { and, count, desc, eq, gte, isNull, lt } from '../drizzle.ts'
import { schema } from '../schema.ts'
import { deleteSome } from '../delete-some.ts'
import type { Queries } from '../sqlite.ts'

const table = schema.accountTickets
export type TicketRow = typeof table.$inferSelect

const isOf = (tenantId: string, userId: string, purpose: TicketRow['purpose']) =>
  and(eq(table.tenantId, tenantId), eq(table.userId, userId), eq(table.purpose, purpose))

export async function insertTicket(queries: Queries, row: TicketRow): Promise<void> {
  await queries.insert(table).values(row)
}

export async function findTicket(queries: Queries, ticketHash: string) {
  const [row] = await queries.select().from(table).where(eq(table.ticketHash, ticketHash))
  return row
}

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
  const [row] = await queries
    .select({ tickets: count() })
    .from(table)
    .where(and(isOf(tenantId, userId, purpose), gte(table.createdAt, sinceMs)))
  return row?.tickets ?? 0
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

export async function deleteTicketsOf(queries: Queries, tenantId: string, userId: string) {
  await queries.delete(table).where(and(eq(table.tenantId, tenantId), eq(table.userId, userId)))
}

export async function deleteTicketsExpiredBefore(
  queries: Queries,
  beforeMs: number,
  limit: number,
): Promise<number> {
  return deleteSome(queries, table.ticketHash, lt(table.expiresAt, beforeMs), limit)
}
