/** Of what people are told of what has happened; a part of `LIMITS`, which is what is asked. */
export const REPORT_LIMITS = {
  // the audit trail
  /** By one page of a search; the next one goes on from there. */
  auditLookedThroughMax: 2000,
  /** Of an entry with long lists, as far as a search reads it. */
  auditCharactersSearched: 4000,
  auditExportedMax: 20_000,
} as const
