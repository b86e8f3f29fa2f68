/** What the store asks of a database. Which there are: `engines`. */
import type { BaseSQLiteDatabase } from 'drizzle-orm/sqlite-core'
import type { GatewayProgress, LoggedNews, News, OtherNode } from './nodes.ts'
import type { Schema } from './schema.ts'

/**
 * Queries are awaited (`await db.select()…`), never run with `.get()` or `.all()`: so any database
 * can answer them. What they say is put together in the words that SQLite and Postgres share.
 */
export type Queries = BaseSQLiteDatabase<'async', unknown, Schema>

/** Of what is read in the order of its numbers. */
export type Numbered = 'event' | 'audit'

/**
 * A number is larger than all that were given out before. In a transaction alone, all that is there
 * is also all that there will be up to the newest number: those of a change that is taken back are
 * never used.
 */
export interface Numbers {
  take(queries: Queries, kind: Numbered, count: number): Promise<readonly number[]>
  /** What follows is larger by so much. */
  skip(queries: Queries, by: number): Promise<void>
}

/** Of the node that runs here. */
export interface Nodes {
  readonly nodeId: string
  /** Written last of all in a change that is alone: its position is that of the commit. */
  write(queries: Queries, news: News): Promise<number>
  /** Where the log ends, and of which database it is. */
  head(): Promise<{ readonly epoch: string; readonly position: number }>
  after(position: number, limit: number): Promise<readonly LoggedNews[]>
  /** That this one is there, and how far its gateways are. */
  say(gateways: readonly GatewayProgress[], status?: readonly unknown[]): Promise<void>
  others(): Promise<readonly OtherNode[]>
  /** What nobody needs any more. */
  prune(): Promise<void>
}

export interface Engine {
  readonly reader: Queries
  readonly numbers: Numbers
  /** Runs `work` alone, on committed state; all of it is kept or none. */
  transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T>
  /**
   * The same, alone among those of this tenant and beside those of others: what is read and written
   * is this tenant's, and never a counter of all.
   */
  transactionOf<T>(tenantId: string, work: (queries: Queries) => Promise<T>): Promise<T>
  /** Where several control planes may have one database. */
  readonly nodes?: Nodes
  close(): Promise<void>
}
