/**
 * What waits until it is due, and was written down by a clock that was ahead and has been set back:
 * it would wait for as long as that was, whether it was never begun, is leased, or was put off. The
 * time at which it was written says how far ahead the clock was; by so much it is brought back. A
 * lease that runs lasts from then on as long as ever.
 */
import { SECOND_MS } from '../../../shared/clock.ts'
import { and, eq, gt, sql, type SQL, type SQLiteColumn, type SQLiteTable } from '../drizzle.ts'
import type { Queries } from '../engine.ts'
import { schema } from '../schema.ts'
import { isOneOf } from '../statements.ts'

/** Below it nobody notices, and a clock that is kept right goes back by less now and then. */
const AHEAD_MS = SECOND_MS
const AT_ONCE = 500

interface Waiting<Table extends SQLiteTable> {
  readonly table: Table
  readonly written: SQLiteColumn
  /** Which times go by it, with itself. */
  readonly times: readonly (string & keyof Table['_']['columns'])[]
  readonly areMeant?: SQL
}

interface Changing {
  readonly read: Queries
  change<T>(
    work: (change: { readonly queries: Queries; readonly nowMs: number }) => Promise<T>,
  ): Promise<T>
}

function bringBack<Table extends SQLiteTable>({ table, written, times, areMeant }: Waiting<Table>) {
  const areAhead = (nowMs: number) => and(areMeant, gt(written, nowMs + AHEAD_MS))
  const columns = table as unknown as Record<string, SQLiteColumn>

  async function bringSome(queries: Queries, nowMs: number): Promise<boolean> {
    const earlier = times.map((name) => [name, sql`${columns[name]} - (${written} - ${nowMs})`])
    const brought = await queries
      .update(table as SQLiteTable)
      .set(Object.fromEntries(earlier) as Record<string, SQL>)
      .where(isOneOf(queries, table, areAhead(nowMs), AT_ONCE))
      .returning({ one: sql`1` })
    return brought.length === AT_ONCE
  }

  /** Most of the time there is nothing, and nothing is written. */
  return async ({ read, change }: Changing, nowMs: number): Promise<void> => {
    const [ahead] = await read
      .select({ one: sql`1` })
      .from(table as SQLiteTable)
      .where(areAhead(nowMs))
      .limit(1)
    if (ahead === undefined) return
    while (await change((now) => bringSome(now.queries, now.nowMs)));
  }
}

const { logoutNotices, mails, webhookDeliveries } = schema

export const bringMailsBack = bringBack({
  table: mails,
  written: mails.writtenAt,
  times: ['nextAt', 'writtenAt'],
})

export const bringLogoutNoticesBack = bringBack({
  table: logoutNotices,
  written: logoutNotices.writtenAt,
  times: ['nextAt', 'writtenAt'],
})

export const bringDeliveriesBack = bringBack({
  table: webhookDeliveries,
  written: webhookDeliveries.updatedAt,
  times: ['nextAt', 'leaseUntil', 'updatedAt'],
  areMeant: eq(webhookDeliveries.state, 'pending'),
})
