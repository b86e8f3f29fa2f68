/** What the store asks of a database. Which there are: `engines`. */
import type { BaseSQLiteDatabase } from 'drizzle-orm/sqlite-core'
import type { Schema } from './schema.ts'

/**
 * Queries are awaited (`await db.select()…`), never run with `.get()` or `.all()`: so any database
 * can answer them. What they say is put together in the words that SQLite and Postgres share.
 */
export type Queries = BaseSQLiteDatabase<'async', unknown, Schema>

export interface Engine {
  readonly reader: Queries
  /** Runs `work` alone, on committed state; all of it is kept or none. */
  transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T>
  /**
   * The same, alone among those of this tenant and beside those of others: what is read and written
   * is this tenant's, and no counter of all.
   */
  transactionOf<T>(tenantId: string, work: (queries: Queries) => Promise<T>): Promise<T>
  close(): Promise<void>
}
