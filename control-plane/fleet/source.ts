/** What the hub needs to know of the store. Whoever keeps tenants implements it. */
import type { Revoked, TenantSnapshot } from '../../shared/fleet/snapshot.ts'

export interface FleetPosition {
  /** Another one means that revisions cannot be compared: a new or a replaced database. */
  readonly epoch: string
  readonly revision: number
}

export interface TenantChange {
  readonly tenant_id: string
  readonly revision: number
  /** null: gateways serve this tenant no more (deleted, a draft, in sdk mode). */
  readonly snapshot: TenantSnapshot | null
  /** Set when the snapshot could not be built: the gateways keep the one they have. */
  readonly problem?: string
}

/** That a tenant is served by gateways, without what they serve. */
interface TenantEntry {
  readonly tenant_id: string
  readonly revision: number
  readonly hostnames: readonly string[]
  /** Gateways are to have it before anybody asks for it. */
  readonly isAlwaysTold: boolean
}

/**
 * A revision becomes visible only after every smaller one (the counter is taken inside the
 * transaction that writes), and a snapshot depends on nothing but committed rows and settings.
 */
export interface FleetSource {
  position(): Promise<FleetPosition>
  /** What snapshots depend on beside their tenant: where it differs, all of them do. */
  readonly fingerprint: string
  /** How many tenants gateways serve. */
  count(): Promise<number>
  /** How many certificates they have all together. */
  countCertificates(): Promise<number>
  /** Each of them, a page at a time, without building anything. */
  index(): AsyncIterable<readonly TenantEntry[]>
  /** Commits that gateways have seen are lost: revisions of before cannot be compared any more. */
  beginEpoch(): Promise<void>
  /**
   * Tenants whose revision is greater, in the order of revisions, each once with its newest state;
   * at most `limit`. Tenants that gateways no longer serve are among them, with null.
   */
  changedSince(revision: number, limit: number): Promise<readonly TenantChange[]>
  /** Every tenant that gateways serve, read page by page. */
  all(): AsyncIterable<TenantChange>
  /** undefined: never heard of it. */
  snapshot(tenantId: string): Promise<TenantChange | undefined>
  /** Every tenant that has revocations, whatever its mode, with its whole state. */
  revoked(): AsyncIterable<{ readonly tenant_id: string; readonly revoked: Revoked }>
  /** The whole state of one tenant. */
  revokedOf(tenantId: string): Promise<Revoked>
}
