import { MINUTE_MS, SECOND_MS } from '../../shared/clock.ts'

export const FLEET_TIMING = {
  /** Catches what no notification told us: another control plane on the same database. */
  pollMs: SECOND_MS,
  /** From the connection to its first word. */
  helloMsMax: 5 * SECOND_MS,
  heartbeatMs: 5 * SECOND_MS,
  /** Without any sign of life for so long, a peer is dead. */
  silenceMsMax: 15 * SECOND_MS,
  compareMs: MINUTE_MS,
  /** Every tenant is read again: a changed setting changes snapshots without a revision. */
  rebuildMs: 60 * MINUTE_MS,
} as const
export type FleetTiming = { readonly [Name in keyof typeof FLEET_TIMING]: number }
