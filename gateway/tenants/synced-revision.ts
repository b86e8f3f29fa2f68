/**
 * When a state was made. Revisions only compare within one full synchronisation, since a restored
 * database counts from a lower one again.
 */
export interface SyncedRevision {
  readonly sync: number
  readonly revision: number
}

export function isNewer(a: SyncedRevision, b: SyncedRevision): boolean {
  return a.sync > b.sync || (a.sync === b.sync && a.revision > b.revision)
}
