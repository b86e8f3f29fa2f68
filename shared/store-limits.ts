/** What one change, and one statement, may hold of the database; a part of `LIMITS`, which is what is asked. */
export const STORE_LIMITS = {
  /** For another program's lock on the database. */
  storeBusyMsMax: 5000,
  /**
   * Rows that one change writes and reads, whatever size its tenant has: on SQLite all others wait for
   * it, and so does the event loop for each of its statements. More are slices, each whole in itself.
   */
  changeRowsWrittenMax: 1000,
  /** More than the names of all groups, which a new one is compared with. */
  changeRowsReadMax: 6000,
  /** Of what has grown without anybody looking: 60,000 at once, with their indexes, take a second. */
  rowsDeletedAtOnceMax: 250,
  /** Then others have their turn. */
  sessionsEndedPerChangeMax: 50,
} as const
