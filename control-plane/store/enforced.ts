/** How far a change has got among the gateways. Who carries it out says so (`store.enforceBy`). */

export interface Receipt {
  readonly applied: readonly string[]
  /** Connected, but not there yet when the time was up. */
  readonly pending: readonly string[]
}

/** Who refuses what was revoked, by the time that somebody is told that it is. */
export interface Enforced extends Receipt {
  /** Of those that do: would forget it with a restart, since their disks do not take it. */
  readonly notDurable: readonly string[]
  /** Not connected: they serve what they have, and hear of it when they are back. */
  readonly unreachable: readonly string[]
  /** When it was known: what is written down behind it takes its own time. */
  readonly atMs?: number
}

export const ENFORCED_BY_NOBODY: Enforced = {
  applied: [],
  pending: [],
  notDurable: [],
  unreachable: [],
}

export function isEverywhere({ pending, notDurable, unreachable }: Enforced): boolean {
  return pending.length + notDurable.length + unreachable.length === 0
}
